package dev.plumbline.scriptdeployment;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.plumbline.schemas.Step;
import dev.plumbline.schemas.command.Command;
import dev.plumbline.schemas.command.Job;
import dev.plumbline.schemas.event.StepEvent.ScriptsDeployed;
import dev.plumbline.schemas.event.StepEvent.ScriptsDeployed.Deployed;
import dev.plumbline.workerkit.Exec;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostInventory;
import dev.plumbline.workerkit.Hosts;
import dev.plumbline.workerkit.StepContext;
import dev.plumbline.workerkit.StepFailure;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On this machine, with real files and a real interpreter. */
class ScriptDeploymentIT {

  private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");

  @TempDir Path folder;
  private Path scripts;
  private Path target;
  private Hosts hosts;

  @BeforeEach
  void here() throws Exception {
    scripts = Files.createDirectory(folder.resolve("scripts"));
    target = folder.resolve("work dir/scripts");
    Path inventory = folder.resolve("hosts.yaml");
    Files.writeString(
        inventory, "hosts: {local: {transport: local, workDir: \"" + folder + "/work dir\"}}");
    hosts = new Hosts(() -> HostInventory.read(inventory));
  }

  private static Job job(String host, Long token) {
    return new Job("c-1", Step.DEPLOY, 1, host, token, null);
  }

  private ScriptsDeployed deploy(Job job, String... names) throws StepFailure {
    Command.DeployScripts command = new Command.DeployScripts(job, List.of(names));
    return new ScriptDeployment(new ScriptSource(Optional.of(scripts)), hosts)
        .deploy(command, new Context(job));
  }

  private StepFailure failure(Job job, String... names) {
    return catchThrowableOfType(StepFailure.class, () -> deploy(job, names));
  }

  private record Context(Job job) implements StepContext {
    @Override
    public Instant now() {
      return NOW;
    }

    @Override
    public void progress(long done, Long total, String note) {}

    @Override
    public boolean cancelled() {
      return false;
    }

    @Override
    public void onCancel(Runnable action) {}

    @Override
    public void checkCancelled() {}
  }

  @Test
  void aScriptArrivesWholeAndForTheOwnerAlone() throws Exception {
    Files.writeString(scripts.resolve("hello.py"), "print('hello')\n");
    ScriptsDeployed result = deploy(job("local", null), "hello.py");
    Deployed script = result.scripts().getFirst();
    assertThat(script.script()).isEqualTo("hello.py");
    assertThat(script.path()).isEqualTo(target.resolve("hello.py").toString());
    assertThat(script.bytes()).isEqualTo(15);
    // printf "print('hello')\n" | sha256sum
    assertThat(script.sha256())
        .isEqualTo("03e693d9f2f687e0f40e36a8df7fcb4d1c22974012b7c2a55c000eb30f305824");
    assertThat(script.preflight()).startsWith("syntax good for python 3").contains("(/");
    assertThat(target.resolve("hello.py")).hasContent("print('hello')\n");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(target)))
        .isEqualTo("rwx------");
    assertThat(
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(target.resolve("hello.py"))))
        .isEqualTo("rwx------");
    assertThat(result.at()).isEqualTo(NOW);
  }

  @Test
  void theProbeTestsItself() throws Exception {
    Deployed probe = deploy(job("local", null), "plumbline_probe.py").scripts().getFirst();
    assertThat(probe.preflight()).startsWith("plumbline_probe ").contains("python 3");
  }

  @Test
  void aDuplicateLeavesTheFileAsItIs() throws Exception {
    Files.writeString(scripts.resolve("hello.py"), "print('hello')\n");
    ScriptsDeployed first = deploy(job("local", null), "hello.py");
    Object inode = Files.getAttribute(target.resolve("hello.py"), "unix:ino");
    assertThat(deploy(job("local", null), "hello.py")).isEqualTo(first);
    assertThat(Files.getAttribute(target.resolve("hello.py"), "unix:ino")).isEqualTo(inode);
    // A new version takes its place, in one step.
    Files.writeString(scripts.resolve("hello.py"), "print('other')\n");
    deploy(job("local", null), "hello.py");
    assertThat(target.resolve("hello.py")).hasContent("print('other')\n");
    assertThat(Files.getAttribute(target.resolve("hello.py"), "unix:ino")).isNotEqualTo(inode);
    assertThat(target.toFile().list()).containsExactly("hello.py");
  }

  @Test
  void aScriptThatCannotRunIsRefusedWithTheInterpretersWords() throws Exception {
    Files.writeString(scripts.resolve("broken.py"), "def f(:\n");
    Files.writeString(scripts.resolve("broken.sh"), "if true; then\n");
    Files.writeString(scripts.resolve("needs.py"), "import no_such_module\n# knows --self-test\n");
    assertThat(failure(job("local", null), "broken.py")).hasMessageContaining("SyntaxError");
    assertThat(failure(job("local", null), "broken.sh")).hasMessageContaining("broken.sh");
    StepFailure missing = failure(job("local", null), "needs.py");
    assertThat(missing.code()).isEqualTo("refused");
    assertThat(missing).hasMessageContaining("no_such_module");
  }

  @Test
  void aFileOfAnotherKindIsNotRun() throws Exception {
    Files.writeString(scripts.resolve("table.csv"), "a,b\n");
    assertThat(deploy(job("local", null), "table.csv").scripts().getFirst().preflight()).isNull();
  }

  @Test
  void badInputChangesNothing() {
    assertThat(failure(job("local", null), "no_such.py").code()).isEqualTo("invalid");
    assertThat(failure(job("locale", null), "plumbline_probe.py"))
        .hasMessageContaining("did you mean 'local'?");
    assertThat(target).doesNotExist();
  }

  @Test
  void aPlantedDirectoryIsRefused() throws Exception {
    Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
    Files.createDirectories(target.getParent());
    Files.createSymbolicLink(target, elsewhere);
    assertThat(failure(job("local", null), "plumbline_probe.py"))
        .hasMessageContaining("symbolic link");
    assertThat(elsewhere).isEmptyDirectory();
  }

  @Test
  void aHostThatWasLeasedAnewIsNotTouched() throws Exception {
    Files.createDirectories(target.getParent());
    Files.writeString(target.resolveSibling("lease.json"), "{\"token\": 8}");
    StepFailure refused = failure(job("local", 7L), "plumbline_probe.py");
    assertThat(refused.code()).isEqualTo("refused");
    assertThat(refused).hasMessageContaining("the token there is 8, ours is 7");
    assertThat(target).doesNotExist();
    assertThat(deploy(job("local", 8L), "plumbline_probe.py").scripts()).hasSize(1);
  }

  // A host that fails or lies, around the real one

  @FunctionalInterface
  private interface Lie {
    /** The answer of a call; empty: ask the real host. */
    Optional<Object> answer(String method, Object[] arguments) throws Exception;
  }

  private HostAccess lying(Lie lie) throws Exception {
    HostAccess real = hosts.connect("local");
    return (HostAccess)
        Proxy.newProxyInstance(
            HostAccess.class.getClassLoader(),
            new Class<?>[] {HostAccess.class},
            (proxy, method, arguments) -> {
              Optional<Object> answer = lie.answer(method.getName(), arguments);
              if (answer.isPresent()) {
                return answer.get();
              }
              try {
                return method.invoke(real, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private StepFailure uploadFailure(HostAccess host) throws Exception {
    VerifiedUpload upload = new VerifiedUpload(host, target.toString());
    upload.prepare();
    return catchThrowableOfType(
        StepFailure.class, () -> upload.put("s.py", "new content".getBytes(UTF_8), "c-1-deploy-1"));
  }

  private static Optional<Object> said(String stdout) {
    return Optional.of(new Exec(OptionalInt.of(0), stdout, ""));
  }

  @Test
  void anUploadThatWasCutOrChangedLeavesTheOldFile() throws Exception {
    Files.createDirectories(target);
    Files.writeString(target.resolve("s.py"), "old content");
    for (String arrives : List.of("new con", "NEW CONTENT")) {
      List<Object[]> writes = new ArrayList<>();
      HostAccess host =
          lying(
              (method, arguments) -> {
                if (method.equals("write")) {
                  writes.add(arguments);
                  InputStream changed = new ByteArrayInputStream(arrives.getBytes(UTF_8));
                  ((InputStream) arguments[1]).readAllBytes();
                  arguments[1] = changed;
                }
                return Optional.empty();
              });
      StepFailure failure = uploadFailure(host);
      assertThat(failure.retryable()).isTrue();
      assertThat(failure)
          .hasMessageContaining(
              arrives.length() == 7 ? "7 bytes instead of 11" : "its SHA-256 is ");
      assertThat(writes).hasSize(1);
      assertThat(target.resolve("s.py")).hasContent("old content");
      assertThat(target.toFile().list()).containsExactly("s.py");
    }
  }

  @Test
  void aFullDiskIsFoundBeforeTheUpload() throws Exception {
    HostAccess host =
        lying(
            (method, arguments) ->
                method.equals("exec") && ((List<?>) arguments[0]).contains("-k")
                    ? said(
                        "Filesystem 1024-blocks Used Available Capacity Mounted on\n"
                            + "/dev/sda1 1000000 999900 100 100% /\n")
                    : Optional.empty());
    StepFailure failure = uploadFailure(host);
    // 2 * 11 bytes and 1 MiB
    assertThat(failure).hasMessageContaining("102400 bytes free").hasMessageContaining("1048598");
    assertThat(target).isEmptyDirectory();
  }

  @Test
  void missingInodesAreFoundAndUncountedOnesAreNot() throws Exception {
    assertThat(uploadFailure(lying((m, a) -> inodes(m, a, "1000 1000 0"))))
        .hasMessageContaining("inodes");
    assertThat(uploadFailure(lying((m, a) -> inodes(m, a, "0 0 0")))).isNull();
    Files.delete(target.resolve("s.py"));
    assertThat(uploadFailure(lying((m, a) -> inodes(m, a, "- - -")))).isNull();
  }

  private static Optional<Object> inodes(String method, Object[] arguments, String figures) {
    return method.equals("exec") && ((List<?>) arguments[0]).contains("-i")
        ? said("Filesystem Inodes IUsed IFree IUse% Mounted on\nnone " + figures + " - /\n")
        : Optional.empty();
  }

  @Test
  void aHostWithoutSha256sumIsReadBack() throws Exception {
    HostAccess host =
        lying(
            (method, arguments) ->
                method.equals("exec") && ((List<?>) arguments[0]).contains("sha256sum")
                    ? Optional.of(new Exec(OptionalInt.of(127), "", "not found"))
                    : Optional.empty());
    assertThat(uploadFailure(host)).isNull();
    assertThat(target.resolve("s.py")).hasContent("new content");
  }

  @Test
  void aMissingInterpreterIsNamed() throws Exception {
    Path inventory = folder.resolve("hosts.yaml");
    Files.writeString(
        inventory,
        "hosts: {local: {transport: local, python: /no/python3, workDir: " + folder + "/w}}");
    assertThat(failure(job("local", null), "plumbline_probe.py"))
        .hasMessageContaining("has no interpreter '/no/python3'");
  }
}
