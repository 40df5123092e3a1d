package dev.plumbline.macroload;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.UnresolvedAddressException;
import org.junit.jupiter.api.Test;

class RefusalTest {

  @Test
  void whatTheHttpClientLeavesUnsaidIsSaidInWords() {
    assertThat(Refusal.words(new ConnectException())).isEqualTo("connection refused");
    IOException unresolved =
        (IOException)
            new ConnectException()
                .initCause(new ConnectException().initCause(new UnresolvedAddressException()));
    assertThat(Refusal.words(unresolved)).contains("host name").doesNotContain("Exception");
  }

  @Test
  void anExceptionsOwnMessageIsKept() {
    assertThat(Refusal.words(new IOException("Connection reset"))).isEqualTo("Connection reset");
    assertThat(Refusal.words(new IOException())).isEqualTo("IOException");
  }
}
