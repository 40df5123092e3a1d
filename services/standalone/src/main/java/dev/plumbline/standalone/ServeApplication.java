package dev.plumbline.standalone;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;

/** Keeps the services up until they are told to stop. Argument: what to say once they are ready. */
public class ServeApplication implements QuarkusApplication {

  @Override
  public int run(String... args) {
    System.err.println(args[0]);
    Quarkus.waitForExit();
    return Main.DONE;
  }
}
