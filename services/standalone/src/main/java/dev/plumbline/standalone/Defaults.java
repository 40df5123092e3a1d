package dev.plumbline.standalone;

import java.nio.file.Path;

/** What is taken where the user says nothing. */
final class Defaults {

  static final String SERVER_URL = "http://localhost:8080";

  private Defaults() {}

  static Path dataFolder() {
    return Path.of(System.getProperty("user.home"), ".plumbline");
  }
}
