package dev.plumbline.standalone;

import dev.plumbline.campaign.ReportText;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.campaign.CampaignReport;
import dev.plumbline.schemas.campaign.CampaignStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Tells the end of a campaign: the report on standard output, the reason on standard error, the
 * exit code.
 */
final class Outcome {

  private Outcome() {}

  /**
   * @param reports folder in which the report is kept as JSON and as text
   */
  static int tell(CampaignStatus status, Path reports) {
    CampaignReport report = status.report();
    if (report != null) {
      String text = ReportText.render(report);
      System.out.print(text);
      System.out.flush();
      keep(reports, report, text);
    }
    return switch (status.state()) {
      case COMPLETED -> verdictCode(report);
      case REJECTED -> {
        System.err.println("The request was rejected; nothing was changed on the host:");
        System.err.println(
            UserError.lines(status.faults() == null ? java.util.List.of() : status.faults()));
        yield Main.USAGE;
      }
      case CANCELLED -> {
        System.err.println(
            "Campaign " + status.campaignId() + " was cancelled: " + status.reason());
        yield Main.FAILED;
      }
      default -> {
        System.err.println("Campaign " + status.campaignId() + " failed: " + status.reason());
        yield Main.FAILED;
      }
    };
  }

  private static int verdictCode(CampaignReport report) {
    boolean conclusive =
        report != null
            && report.verdict() != null
            && "conclusive".equals(report.verdict().verdict());
    return conclusive ? Main.DONE : Main.INCONCLUSIVE;
  }

  private static void keep(Path reports, CampaignReport report, String text) {
    try {
      Files.createDirectories(reports);
      Path json = reports.resolve(report.campaignId() + ".json");
      Files.write(json, Json.bytes(report));
      Files.writeString(reports.resolve(report.campaignId() + ".txt"), text);
      System.err.println("Report kept in " + json + " and .txt");
    } catch (IOException e) {
      System.err.println("The report could not be kept in " + reports + ": " + e.getMessage());
    }
  }
}
