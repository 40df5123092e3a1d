package dev.plumbline.schemas.campaign;

import java.util.Map;

/**
 * Asks for a campaign.
 *
 * @param campaignId chosen by the requester: {@code [a-z0-9][a-z0-9-]{0,62}}; asking twice with the
 *     same content is harmless
 * @param host name in the host inventory
 * @param service the server under test; null for an analysis-only campaign
 * @param plan which steps, and how
 * @param deadlines null: the defaults of the coordinator
 * @param allowNoGpu run on a host without a GPU
 * @param requestedBy who asks, for the record
 */
public record CampaignRequested(
    String campaignId,
    String host,
    ServiceUnderTest service,
    Plan plan,
    Deadlines deadlines,
    boolean allowNoGpu,
    String requestedBy,
    Map<String, String> labels)
    implements CampaignRequest {}
