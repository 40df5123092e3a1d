package dev.plumbline.standalone;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.streams.KafkaStreams;

/** Keeps the services up until they are told to stop. Argument: what to say once they are ready. */
public class ServeApplication implements QuarkusApplication {

  private final KafkaStreams streams;

  ServeApplication(KafkaStreams streams) {
    this.streams = streams;
  }

  @Override
  public int run(String... args) throws InterruptedException {
    // Before that, REST could read no campaign; a stream that has failed is told by its own
    // message.
    while (streams.state() == KafkaStreams.State.CREATED
        || streams.state().isRunningOrRebalancing()) {
      if (streams.state() == KafkaStreams.State.RUNNING) {
        System.err.println(args[0]);
        Quarkus.waitForExit();
        return Main.DONE;
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
    System.err.println("The streams ended at their start; the log in the data folder says why.");
    return Main.FAILED;
  }
}
