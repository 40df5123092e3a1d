package dev.plumbline.schemas.campaign;

/**
 * Asks to end a campaign; the server is restored first.
 *
 * @param reason for the record
 */
public record CampaignCancelRequested(String campaignId, String reason, String requestedBy)
    implements CampaignRequest {}
