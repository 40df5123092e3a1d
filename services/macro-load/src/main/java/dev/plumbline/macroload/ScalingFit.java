package dev.plumbline.macroload;

import dev.plumbline.schemas.load.LoadReport.Level;
import dev.plumbline.schemas.load.LoadReport.Saturation;
import dev.plumbline.schemas.load.LoadReport.UniversalScalability;
import java.util.List;

/**
 * Saturation point and Universal Scalability Law of the levels of a closed loop. Levels at which
 * the client was the limit, that were cut short or that completed nothing are left out.
 *
 * <p>Source of the law: N. J. Gunther, "Guerrilla Capacity Planning", 2007: X(N) = λN / (1 + σ(N−1)
 * + κN(N−1)).
 */
final class ScalingFit {

  private static final double SATURATED = 0.95;

  private ScalingFit() {}

  private static List<Level> usable(List<Level> levels) {
    return levels.stream()
        .filter(level -> level.concurrency() != null)
        .filter(level -> !level.clientBound() && !level.partial() && level.outputThroughput() > 0)
        .toList();
  }

  /** The smallest concurrency with at least 95 % of the best throughput; null without levels. */
  static Saturation saturation(List<Level> levels) {
    List<Level> usable = usable(levels);
    double best = usable.stream().mapToDouble(Level::outputThroughput).max().orElse(0);
    Level point = null;
    for (Level level : usable) {
      if (level.outputThroughput() >= SATURATED * best
          && (point == null || level.concurrency() < point.concurrency())) {
        point = level;
      }
    }
    return point == null ? null : new Saturation(point.concurrency(), point.outputThroughput());
  }

  /**
   * The law with λ &gt; 0, σ ≥ 0, κ ≥ 0 that fits best; null with fewer than three different
   * concurrencies.
   *
   * <p>N/X is linear in 1/λ, σ/λ and κ/λ. Least squares on it, weighted by (X²/N)² so that the
   * residuals are those of X to first order, is solved for each choice of coefficients held at
   * zero; the problem is convex, so the best of the admissible solutions is the constrained
   * optimum.
   */
  static UniversalScalability usl(List<Level> levels) {
    List<Level> usable = usable(levels);
    if (usable.stream().map(Level::concurrency).distinct().count() < 3) {
      return null;
    }
    UniversalScalability best = null;
    double least = Double.POSITIVE_INFINITY;
    for (boolean contention : new boolean[] {true, false}) {
      for (boolean coherence : new boolean[] {true, false}) {
        double[] solution = solve(usable, contention, coherence);
        if (solution == null || solution[0] <= 0 || solution[1] < 0 || solution[2] < 0) {
          continue;
        }
        double residual = weightedResidual(usable, solution);
        if (residual < least) {
          least = residual;
          best = law(usable, solution);
        }
      }
    }
    return best;
  }

  private static UniversalScalability law(List<Level> levels, double[] solution) {
    double lambda = 1 / solution[0];
    double sigma = solution[1] * lambda;
    double kappa = solution[2] * lambda;
    double mean = levels.stream().mapToDouble(Level::outputThroughput).average().orElse(0);
    double unexplained = 0;
    double total = 0;
    for (Level level : levels) {
      double n = level.concurrency();
      double fitted = lambda * n / (1 + sigma * (n - 1) + kappa * n * (n - 1));
      unexplained += square(level.outputThroughput() - fitted);
      total += square(level.outputThroughput() - mean);
    }
    Double peak = kappa > 0 && sigma < 1 ? Math.sqrt((1 - sigma) / kappa) : null;
    return new UniversalScalability(
        lambda, sigma, kappa, peak, total > 0 ? 1 - unexplained / total : 0);
  }

  private static double[] terms(Level level) {
    double n = level.concurrency();
    return new double[] {1, n - 1, n * (n - 1)};
  }

  /** Largest of each term: the equations are solved for scaled terms, or digits would be lost. */
  private static double[] scales(List<Level> levels) {
    double[] scales = {1, 1, 1};
    for (Level level : levels) {
      double[] terms = terms(level);
      for (int i = 0; i < 3; i++) {
        scales[i] = Math.max(scales[i], terms[i]);
      }
    }
    return scales;
  }

  private static double weight(Level level) {
    return square(square(level.outputThroughput()) / level.concurrency());
  }

  private static double weightedResidual(List<Level> levels, double[] solution) {
    double sum = 0;
    for (Level level : levels) {
      double[] terms = terms(level);
      double fitted = 0;
      for (int i = 0; i < 3; i++) {
        fitted += solution[i] * terms[i];
      }
      sum += weight(level) * square(level.concurrency() / level.outputThroughput() - fitted);
    }
    return sum;
  }

  /** Normal equations with the coefficients not wanted held at zero; null when singular. */
  private static double[] solve(List<Level> levels, boolean contention, boolean coherence) {
    boolean[] free = {true, contention, coherence};
    double[] scales = scales(levels);
    double[][] m = new double[3][4];
    for (Level level : levels) {
      double[] terms = terms(level);
      double y = level.concurrency() / level.outputThroughput();
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          m[i][j] +=
              free[i] && free[j] ? weight(level) * terms[i] / scales[i] * terms[j] / scales[j] : 0;
        }
        m[i][3] += free[i] ? weight(level) * terms[i] / scales[i] * y : 0;
      }
    }
    for (int i = 0; i < 3; i++) {
      if (!free[i]) {
        m[i][i] = 1;
      }
    }
    double[] solution = eliminate(m);
    for (int i = 0; solution != null && i < 3; i++) {
      solution[i] /= scales[i];
    }
    return solution;
  }

  private static double[] eliminate(double[][] m) {
    for (int column = 0; column < 3; column++) {
      int pivot = column;
      for (int row = column + 1; row < 3; row++) {
        pivot = Math.abs(m[row][column]) > Math.abs(m[pivot][column]) ? row : pivot;
      }
      double[] swapped = m[column];
      m[column] = m[pivot];
      m[pivot] = swapped;
      if (m[column][column] == 0) {
        return null;
      }
      for (int row = 0; row < 3; row++) {
        double factor = row == column ? 0 : m[row][column] / m[column][column];
        for (int i = column; i < 4; i++) {
          m[row][i] -= factor * m[column][i];
        }
      }
    }
    return new double[] {m[0][3] / m[0][0], m[1][3] / m[1][1], m[2][3] / m[2][2]};
  }

  private static double square(double x) {
    return x * x;
  }
}
