package dev.plumbline.schemas.campaign;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;

/** What anyone may ask for on {@code plumbline.campaign.requests.v1}. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = CampaignRequested.class, name = "CampaignRequested"),
  @JsonSubTypes.Type(value = CampaignCancelRequested.class, name = "CampaignCancelRequested")
})
public sealed interface CampaignRequest permits CampaignRequested, CampaignCancelRequested {
  String campaignId();
}
