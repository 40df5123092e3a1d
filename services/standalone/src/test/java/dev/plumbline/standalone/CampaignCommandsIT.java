package dev.plumbline.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the commands that ask over HTTP say of an answer that is a refusal. */
class CampaignCommandsIT {

  private final StringWriter err = new StringWriter();
  private final List<String> asked = new ArrayList<>();
  private int status;
  private String body;
  private HttpServer server;

  @BeforeEach
  void serve() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          asked.add(exchange.getRequestURI().getRawPath());
          byte[] answer = body.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  @Test
  void theServicesOwnWordsAreSaid() {
    answers(404, "{\"faults\":[{\"field\":\"\",\"message\":\"It has no report: it is macro.\"}]}");
    assertThat(run("report", "a b/c")).isEqualTo(2);
    assertThat(asked).containsExactly("/api/campaigns/a%20b%2Fc/report");
    assertThat(err.toString()).isEqualToIgnoringNewLines("It has no report: it is macro.");
  }

  @Test
  void aConflictIsOneSentenceWithoutJson() {
    answers(409, "{\"faults\":[{\"field\":\"campaignId\",\"message\":\"It has ended.\"}]}");
    assertThat(run("cancel", "a")).isEqualTo(1);
    assertThat(err.toString()).isEqualToIgnoringNewLines("It has ended.");
  }

  @Test
  void anotherServerIsNotTakenForPlumbline() {
    answers(404, "<html>nothing here</html>");
    assertThat(run("status")).isEqualTo(2);
    assertThat(err.toString()).contains("404").contains("--url").doesNotContain("html");
  }

  private void answers(int code, String text) {
    status = code;
    body = text;
  }

  private int run(String... args) {
    List<String> all = new ArrayList<>(List.of(args));
    all.add("--url=http://localhost:" + server.getAddress().getPort());
    return Main.commandLine()
        .setErr(new PrintWriter(err, true))
        .execute(all.toArray(String[]::new));
  }
}
