package dev.plumbline.campaign;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * A host as the coordinator knows it: who holds it and who waits, in order.
 *
 * @param token the last fencing token granted; never shrinks
 * @param holder campaign that holds the lease; null when the host is free
 * @param queue accepted campaigns that wait, first come first
 * @param closed why nobody else gets the host: a restore that is owed; else null
 */
record Host(String name, long token, String holder, List<String> queue, String closed) {

  Host {
    queue = queue == null ? List.of() : List.copyOf(queue);
  }

  static Host unknown(String name) {
    return new Host(name, 0, null, List.of(), null);
  }

  Host enqueue(String campaign) {
    List<String> longer = new ArrayList<>(queue);
    longer.add(campaign);
    return new Host(name, token, holder, longer, closed);
  }

  Host leave(String campaign) {
    return new Host(
        name, token, holder, queue.stream().filter(c -> !c.equals(campaign)).toList(), closed);
  }

  boolean next(String campaign) {
    return holder == null && !queue.isEmpty() && queue.getFirst().equals(campaign);
  }

  /**
   * The campaign takes the host. The token is at least the time in seconds, so that it is newer
   * than the one on the host even if this store was lost.
   */
  Host lease(String campaign, Instant now) {
    return new Host(
        name, Math.max(token + 1, now.getEpochSecond()), campaign, leave(campaign).queue(), closed);
  }

  Host release() {
    return new Host(name, token, null, queue, null);
  }

  Host close(String why) {
    return new Host(name, token, holder, queue, why);
  }

  /** 1 = next; 0 when it does not wait. */
  int position(String campaign) {
    return queue.indexOf(campaign) + 1;
  }
}
