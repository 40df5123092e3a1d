package dev.plumbline.campaign;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RequestSenderTest {

  @Test
  void aBrokerThatIsAwayIsToldInBoundedTime() throws IOException {
    int nobody;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      nobody = socket.getLocalPort();
    }
    RequestSender sender =
        new RequestSender(
            Map.of("bootstrap.servers", "127.0.0.1:" + nobody), Duration.ofSeconds(1));
    try {
      assertThatThrownBy(() -> sender.send(Requests.full("c1", "lab")))
          .isInstanceOf(RequestSender.BrokerAway.class)
          .hasMessageContaining("127.0.0.1:" + nobody)
          .hasMessageContaining("within 1 s");
    } finally {
      sender.close();
    }
  }
}
