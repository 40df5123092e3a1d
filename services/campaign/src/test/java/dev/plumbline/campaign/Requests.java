package dev.plumbline.campaign;

import dev.plumbline.schemas.campaign.CampaignRequested;
import dev.plumbline.schemas.campaign.Plan;
import dev.plumbline.schemas.campaign.ServiceUnderTest;
import dev.plumbline.schemas.load.LoadSpec;
import dev.plumbline.schemas.micro.MicroOperation;
import dev.plumbline.schemas.micro.MicroSpec;
import dev.plumbline.schemas.micro.TraceSpec;
import dev.plumbline.schemas.trace.TraceFile;
import java.util.List;
import java.util.Map;

/** Plain requests for tests. */
final class Requests {

  static final LoadSpec LOAD =
      new LoadSpec(List.of(1, 8), 4, null, null, null, null, null, null, null);
  static final MicroSpec MICRO =
      new MicroSpec(
          "cuda",
          null,
          null,
          null,
          null,
          List.of(new MicroOperation("qkv", "gemm", Map.of("m", 1L), "bf16", 8, null)));
  static final TraceSpec FREED = new TraceSpec(false, true, 1, 10, null, null);
  static final TraceSpec LIVE = new TraceSpec(true, false, 1, 10, "/lab/traces", null);

  private Requests() {}

  static CampaignRequested full(String id, String host) {
    return of(id, host, new Plan(LOAD, MICRO, FREED, null, null, null));
  }

  static CampaignRequested observing(String id, String host) {
    return of(id, host, new Plan(LOAD, null, LIVE, null, null, null));
  }

  static CampaignRequested analysing(String id, String host) {
    TraceFile given = new TraceFile(host, "/lab/given.json", 0, null, null, "given");
    return of(id, host, new Plan(null, null, null, null, List.of(given), null));
  }

  static CampaignRequested of(String id, String host, Plan plan) {
    return new CampaignRequested(
        id,
        host,
        new ServiceUnderTest(
            ServiceUnderTest.Strategy.SYSTEMD,
            "llm.service",
            null,
            null,
            "http://lab:8000",
            "kimi",
            null),
        plan,
        null,
        false,
        "test",
        null);
  }
}
