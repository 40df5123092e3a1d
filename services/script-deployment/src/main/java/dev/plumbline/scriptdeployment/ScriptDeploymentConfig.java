package dev.plumbline.scriptdeployment;

import io.smallrye.config.ConfigMapping;
import java.nio.file.Path;
import java.util.Optional;

/** Settings of this service. */
@ConfigMapping(prefix = "plumbline.script-deployment")
public interface ScriptDeploymentConfig {

  /**
   * Folder whose files may be deployed by name, before the built-in scripts; absent: only these.
   */
  Optional<Path> directory();
}
