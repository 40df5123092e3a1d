package dev.plumbline.macroload;

import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * How the HTTP client of the load is set up: HTTP/1.1, kept connections, one per request in flight.
 */
final class HttpSetup {

  private static final int CONNECT_TIMEOUT_MS = 10_000;
  private static final int MAX_CHUNK_BYTES = 64 << 10;

  private HttpSetup() {}

  /**
   * @param connections most at a time
   * @param connected told of each new connection before its first request
   */
  static HttpClient client(
      Vertx vertx, LoadTarget target, int connections, Handler<HttpConnection> connected) {
    return vertx
        .httpClientBuilder()
        .with(
            new HttpClientOptions()
                .setProtocolVersion(HttpVersion.HTTP_1_1)
                .setKeepAlive(true)
                .setKeepAliveTimeout(0)
                .setConnectTimeout(CONNECT_TIMEOUT_MS)
                .setMaxChunkSize(MAX_CHUNK_BYTES)
                .setTcpNoDelay(true)
                .setSsl(target.tls()))
        .with(new PoolOptions().setHttp1MaxSize(connections))
        .withConnectHandler(connected)
        .build();
  }

  /** All of a streaming request but its body. */
  static RequestOptions streamRequest(LoadTarget target, String endPoint) {
    RequestOptions options =
        new RequestOptions()
            .setMethod(HttpMethod.POST)
            .setHost(target.host())
            .setPort(target.port())
            .setServer(resolved(target))
            .setSsl(target.tls())
            .setURI(target.path(endPoint))
            .putHeader("content-type", "application/json")
            .putHeader("accept", "text/event-stream");
    if (target.apiKey() != null) {
      options.putHeader("authorization", "Bearer " + target.apiKey());
    }
    return options;
  }

  /** Resolved once and by the system's own resolver, so that no name look-up is in the figures. */
  private static SocketAddress resolved(LoadTarget target) {
    try {
      return SocketAddress.inetSocketAddress(
          target.port(), InetAddress.getByName(target.host()).getHostAddress());
    } catch (UnknownHostException e) {
      return SocketAddress.inetSocketAddress(target.port(), target.host());
    }
  }
}
