package dev.plumbline.lab;

import dev.plumbline.schemas.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Writes one Kineto file per rank, and the planted truth to another folder. */
final class TraceWriter {

  /**
   * A file of one rank.
   *
   * @param path absolute
   */
  record Written(int rank, Path path, long bytes) {}

  private final Scenario scenario;
  private final Path truthDir;
  private final long seed;

  TraceWriter(Scenario scenario, Path truthDir, long seed) {
    this.scenario = scenario;
    this.truthDir = truthDir;
    this.seed = seed;
  }

  /**
   * Writes the traces of these steps.
   *
   * @param prefix of the file names, such as {@code dp0_pp0_tp%1$d_dcp0_ep0_}; {@code %1$d} is the
   *     rank
   * @param epochNs wall clock at the first step, Unix time in nanoseconds
   */
  List<Written> write(Path dir, String prefix, List<Engine.Step> steps, long epochNs)
      throws IOException {
    if (steps.isEmpty()) {
      return List.of();
    }
    Files.createDirectories(dir);
    Files.createDirectories(truthDir);
    TracePlan planner = new TracePlan(scenario, seed ^ epochNs);
    List<List<TracePlan.RankStep>> plan = planner.layOut(steps);
    TraceTruth truth = TraceTruth.of(scenario, plan);
    int threads = Math.min(plan.size(), Runtime.getRuntime().availableProcessors());
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      List<Future<Written>> files = new ArrayList<>();
      for (int r = 0; r < plan.size(); r++) {
        int rank = r;
        String name = String.format(prefix, rank) + "rank" + rank + "." + epochNs;
        Path file = dir.resolve(name + ".pt.trace.json.gz").toAbsolutePath();
        files.add(
            pool.submit(
                () -> {
                  // A reader that lists the folder must never see half a trace.
                  Path part = file.resolveSibling(file.getFileName() + ".tmp");
                  new KinetoFile(scenario, rank, epochNs).write(part, plan.get(rank));
                  Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
                  Files.write(
                      truthDir.resolve(file.getFileName() + ".truth.json"),
                      Json.bytes(truth.forRank(rank)));
                  return new Written(rank, file, Files.size(file));
                }));
      }
      List<Written> written = new ArrayList<>();
      for (Future<Written> f : files) {
        written.add(f.get());
      }
      return written;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException io) {
        throw io;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(new IOException("interrupted while writing traces", e));
    }
  }
}
