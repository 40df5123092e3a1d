package dev.plumbline.workerkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class StarterTest {

  @Test
  void endsWithItsStarterAndNotBefore() throws Exception {
    Process starter = new ProcessBuilder("sleep", "600").start();
    AtomicBoolean ended = new AtomicBoolean();
    try {
      Starter.follow(starter.pid(), () -> ended.set(true));
      assertThat(ended).isFalse();
    } finally {
      starter.destroyForcibly().waitFor();
    }
    await().untilTrue(ended);
  }

  @Test
  void endsAtOnceWhenItsStarterIsGoneAlready() throws Exception {
    Process starter = new ProcessBuilder("true").start();
    starter.waitFor();
    AtomicBoolean ended = new AtomicBoolean();
    Starter.follow(starter.pid(), () -> ended.set(true));
    assertThat(ended).isTrue();
  }
}
