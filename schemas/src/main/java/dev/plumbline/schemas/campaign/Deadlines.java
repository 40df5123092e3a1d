package dev.plumbline.schemas.campaign;

import dev.plumbline.schemas.Step;
import java.util.Map;

/**
 * @param campaignSeconds limit from acceptance to the start of the restore
 * @param stepSeconds limit of one attempt of a step
 */
public record Deadlines(Double campaignSeconds, Map<Step, Double> stepSeconds) {}
