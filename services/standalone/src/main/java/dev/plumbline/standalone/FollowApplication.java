package dev.plumbline.standalone;

import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.campaign.CampaignRequest;
import dev.plumbline.schemas.campaign.CampaignStatus;
import io.quarkus.runtime.QuarkusApplication;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.kafka.common.KafkaException;

/**
 * Keeps the services up for as long as one campaign takes. Arguments: bootstrap, request file,
 * reports folder.
 */
public class FollowApplication implements QuarkusApplication {

  @Override
  public int run(String... args) throws Exception {
    CampaignRequest request =
        Json.read(Files.readAllBytes(Path.of(args[1])), CampaignRequest.class);
    return follow(args[0], request, Path.of(args[2]));
  }

  /** Publishes, follows, tells; returns the exit code. */
  static int follow(String bootstrap, CampaignRequest request, Path reports) {
    try (CampaignClient client = new CampaignClient(bootstrap)) {
      Follow follow = new Follow(client, ProgressLine.standardError());
      CampaignStatus status = follow.run(request);
      int code = Outcome.tell(status, reports);
      return follow.interrupted() ? Main.INTERRUPTED : code;
    } catch (UserError mistake) {
      System.err.println(mistake.getMessage());
      return mistake.exitCode();
    } catch (KafkaException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      System.err.println(
          "Kafka at "
              + bootstrap
              + " cannot be used: "
              + cause.getMessage()
              + "; name the host:port of a Kafka that Plumbline's services run on.");
      return Main.FAILED;
    } catch (InterruptedException e) {
      System.err.println("Interrupted; the campaign goes on where its services run.");
      return Main.INTERRUPTED;
    }
  }
}
