package dev.plumbline.schemas.campaign;

import dev.plumbline.schemas.host.GpuState;
import dev.plumbline.schemas.load.LoadReport;
import dev.plumbline.schemas.micro.MicroReport;
import dev.plumbline.schemas.trace.TraceFile;
import dev.plumbline.schemas.trace.TraceReport;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * What a campaign found, with its evidence. A part that was not asked for, or not reached, is null.
 *
 * @param trace the analysis without the single steps; the whole lies at {@code references.analysis}
 * @param verdict the bottleneck; inconclusive with reasons when there is no trace
 * @param downtimeNs for how long the server was down; 0 when it was never stopped
 * @param references where the full results and the events are
 * @param notes what a reader must know about these numbers
 */
public record CampaignReport(
    String campaignId,
    String host,
    String model,
    Instant requestedAt,
    Instant finishedAt,
    LoadReport macro,
    List<GpuState> gpusServing,
    List<GpuState> gpusFree,
    List<GpuState> gpusRestored,
    MicroReport micro,
    TraceReport trace,
    List<TraceFile> traces,
    Reconciliation reconciliation,
    TraceReport.Bottleneck verdict,
    long downtimeNs,
    Map<String, String> references,
    List<String> notes) {}
