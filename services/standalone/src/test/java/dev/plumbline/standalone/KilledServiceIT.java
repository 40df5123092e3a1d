package dev.plumbline.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.plumbline.schemas.campaign.CampaignState;
import dev.plumbline.schemas.campaign.CampaignStatus;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One service of several processes dies in the middle. */
class KilledServiceIT {

  @TempDir Path folder;

  @Test
  void aKilledServiceIsStartedAgainAndItsCampaignEndsWell() throws Exception {
    List<ProcessHandle> services;
    try (Server server =
        Server.start(folder, Platform.freePort(), Platform.freePort(), "--lab", "--processes")) {
      ObjectNode request = server.labRequest("killed-service");
      request.withObject("/plan").remove("macro");
      request.withObject("/plan/trace").put("live", false);
      assertThat(server.post("/api/campaigns", request).statusCode()).isEqualTo(202);
      server.awaitState("killed-service", state -> state == CampaignState.FREEING);
      server.process().child("gpu-lifecycle").destroyForcibly();

      CampaignStatus end = server.awaitState("killed-service", CampaignState::terminal);
      assertThat(end.state()).as(end.reason()).isEqualTo(CampaignState.COMPLETED);
      assertThat(end.report().micro().results()).isNotEmpty();
      assertThat(server.process().err()).contains("Service gpu-lifecycle ended with exit code 137");
      services = server.process().children();
    }
    // Ended by a signal to the command line alone: none of its services outlives it.
    assertThat(services).hasSize(7).noneMatch(ProcessHandle::isAlive);
  }
}
