package dev.plumbline.macroload;

import dev.plumbline.schemas.load.LoadSpec;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs the whole client against a stream of its own on loopback before the first measured request,
 * so that class loading and the just-in-time compiler are not in the figures: cold, the first
 * requests read tens of milliseconds too slow. Nothing of it reaches the server under load.
 */
final class ClientWarmup {

  private static final double SECONDS = 0.4;
  private static final int USERS = 4;
  private static final int EVENTS = 64;
  private static final long GIVE_UP_SECONDS = 5;

  private static final Buffer TOKEN =
      Buffer.buffer(
          "data: {\"id\":\"w\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"w\","
              + "\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"},\"logprobs\":null,"
              + "\"finish_reason\":null}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}\n\n");
  private static final Buffer LAST =
      Buffer.buffer(
          "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}],"
              + "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":64}}\n\ndata: [DONE]\n\n");

  private ClientWarmup() {}

  /**
   * Blocks for about half a second.
   *
   * @param loop the event loop that will carry the load
   * @throws Exception when the loopback stream cannot be set up; the load itself may still work
   */
  static void run(Vertx vertx, Context loop) throws Exception {
    HttpServer server =
        vertx
            .createHttpServer()
            .requestHandler(ClientWarmup::answer)
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .get(GIVE_UP_SECONDS, TimeUnit.SECONDS);
    LoadTarget target = new LoadTarget("http://127.0.0.1:" + server.actualPort(), "w");
    LoadPlan plan =
        LoadPlan.of(
            new LoadSpec(
                List.of(USERS), null, SECONDS, 0, 64, EVENTS, "chat", GIVE_UP_SECONDS * 1.0, null));
    StreamClient client =
        new StreamClient(vertx, target, new Requests("w", plan, 0), USERS, System::nanoTime);
    try {
      new LevelRun(
              vertx,
              client,
              plan,
              plan.levels().getFirst(),
              0,
              Map::of,
              CancelFlag.NEVER,
              System::nanoTime)
          .start(loop)
          .get(2 * GIVE_UP_SECONDS, TimeUnit.SECONDS);
    } finally {
      client.close();
      server.close();
    }
  }

  private static void answer(HttpServerRequest request) {
    request
        .body()
        .onSuccess(
            ignored -> {
              HttpServerResponse response =
                  request
                      .response()
                      .setChunked(true)
                      .putHeader("content-type", "text/event-stream");
              for (int i = 0; i < EVENTS; i++) {
                response.write(TOKEN);
              }
              response.end(LAST);
            });
  }
}
