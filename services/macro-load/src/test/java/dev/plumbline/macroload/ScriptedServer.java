package dev.plumbline.macroload;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** An HTTP server on raw sockets that answers each POST as its script says, byte by byte. */
final class ScriptedServer implements AutoCloseable {

  /** Answers one request. */
  interface Script {
    void answer(Request request, Answer answer) throws IOException, InterruptedException;
  }

  /**
   * @param number of POST requests on this server, from 1
   * @param onConnection number of the request on its connection, from 1
   */
  record Request(String line, String head, String body, int number, int onConnection) {}

  private final ServerSocket socket;
  private final Script script;
  private final List<Socket> open = new CopyOnWriteArrayList<>();
  private final AtomicInteger posts = new AtomicInteger();
  private final Semaphore never = new Semaphore(0);
  final List<Request> requests = new CopyOnWriteArrayList<>();
  private volatile String metrics;

  ScriptedServer(Script script) throws IOException {
    this.script = script;
    this.socket = new ServerSocket(0, 512, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  /** Answers {@code GET /metrics} with this text; without it with 404. */
  ScriptedServer withMetrics(String text) {
    metrics = text;
    return this;
  }

  String url() {
    return "http://127.0.0.1:" + socket.getLocalPort();
  }

  private void accept() {
    while (!socket.isClosed()) {
      try {
        Socket connection = socket.accept();
        connection.setTcpNoDelay(true);
        open.add(connection);
        Thread.ofVirtual().start(() -> serve(connection));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void serve(Socket connection) {
    try (connection) {
      InputStream in = new BufferedInputStream(connection.getInputStream());
      int onConnection = 0;
      while (true) {
        String head = head(in);
        if (head == null) {
          return;
        }
        String body = new String(in.readNBytes(length(head)), StandardCharsets.UTF_8);
        Answer answer = new Answer(connection);
        if (head.startsWith("GET")) {
          get(head, answer);
        } else {
          Request request =
              new Request(
                  head.lines().findFirst().orElseThrow(),
                  head,
                  body,
                  posts.incrementAndGet(),
                  ++onConnection);
          requests.add(request);
          script.answer(request, answer);
        }
        if (answer.closing) {
          return;
        }
      }
    } catch (SocketException e) {
      // The client or the script closed the connection.
      open.remove(connection);
    } catch (IOException e) {
      open.remove(connection);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void get(String head, Answer answer) throws IOException {
    if (head.startsWith("GET /metrics") && metrics != null) {
      answer.whole(200, "text/plain", metrics);
    } else if (head.startsWith("GET /v1/models")) {
      answer.whole(200, "application/json", "{\"data\":[{\"id\":\"m\"},{\"id\":\"lora-1\"}]}");
    } else {
      answer.whole(404, "text/plain", "not here");
    }
  }

  private static String head(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int b = in.read();
      if (b < 0) {
        return null;
      }
      head.append((char) b);
    }
    return head.toString();
  }

  private static int length(String head) {
    return head.lines()
        .filter(line -> line.toLowerCase(Locale.ROOT).startsWith("content-length:"))
        .mapToInt(line -> Integer.parseInt(line.substring(15).strip()))
        .findFirst()
        .orElse(0);
  }

  @Override
  public void close() throws IOException {
    socket.close();
    for (Socket connection : open) {
      connection.close();
    }
    never.release(10_000);
  }

  /** One answer on its way. */
  final class Answer {
    private final Socket connection;
    private final OutputStream out;
    private boolean closing;

    private Answer(Socket connection) throws IOException {
      this.connection = connection;
      this.out = connection.getOutputStream();
    }

    /** Head of a chunked event stream. */
    Answer stream() throws IOException {
      out.write(
          ascii(
              "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"));
      return this;
    }

    /** One HTTP chunk with these bytes. */
    Answer chunk(String text) throws IOException {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      byte[] size = ascii(Integer.toHexString(bytes.length) + "\r\n");
      byte[] all = new byte[size.length + bytes.length + 2];
      System.arraycopy(size, 0, all, 0, size.length);
      System.arraycopy(bytes, 0, all, size.length, bytes.length);
      all[all.length - 2] = '\r';
      all[all.length - 1] = '\n';
      out.write(all);
      return this;
    }

    /** One event with this JSON. */
    Answer data(String json) throws IOException {
      return chunk("data: " + json + "\n\n");
    }

    /** Tokens of the content channel, one event each, with so much time before each. */
    Answer tokens(int count, int millisBefore) throws IOException, InterruptedException {
      for (int i = 0; i < count; i++) {
        if (millisBefore > 0) {
          pause(millisBefore);
        }
        data("{\"choices\":[{\"delta\":{\"content\":\"tok \"}}]}");
      }
      return this;
    }

    /** Finish reason, usage, end marker and the end of the body. */
    Answer finish(int promptTokens, int completionTokens) throws IOException {
      data("{\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}");
      data(
          "{\"choices\":[],\"usage\":{\"prompt_tokens\":"
              + promptTokens
              + ",\"completion_tokens\":"
              + completionTokens
              + "}}");
      data("[DONE]");
      return end();
    }

    /** The end of the chunked body. */
    Answer end() throws IOException {
      out.write(ascii("0\r\n\r\n"));
      return this;
    }

    /** A whole answer. */
    void whole(int status, String type, String body) throws IOException {
      byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
      out.write(
          ascii(
              "HTTP/1.1 "
                  + status
                  + " X\r\nContent-Type: "
                  + type
                  + "\r\nContent-Length: "
                  + bytes.length
                  + "\r\n\r\n"));
      out.write(bytes);
    }

    /** Closes the connection politely after this answer, without having said so. */
    void close() {
      closing = true;
    }

    /** Resets the connection. */
    void reset() throws IOException {
      connection.setSoLinger(true, 0);
      connection.close();
      closing = true;
    }

    /** Says nothing more until the server is closed. */
    void hang() throws InterruptedException {
      never.acquire();
      closing = true;
    }

    /** Waits as a server does between tokens. */
    void pause(int millis) throws InterruptedException {
      never.tryAcquire(millis, java.util.concurrent.TimeUnit.MILLISECONDS);
    }
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
