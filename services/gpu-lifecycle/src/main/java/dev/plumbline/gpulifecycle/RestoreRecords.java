package dev.plumbline.gpulifecycle;

import dev.plumbline.schemas.Json;
import dev.plumbline.workerkit.HostAccess;
import dev.plumbline.workerkit.HostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The restore records of one host: {@code <workDir>/restore/<campaign>.json} while the restore is
 * owed, {@code <campaign>.done.json} once it is proven.
 */
record RestoreRecords(HostAccess host) {

  private static final Pattern CAMPAIGN = Pattern.compile("[a-z0-9][a-z0-9-]{0,62}");
  private static final String OWED = ".json";
  private static final String DONE = ".done.json";

  Optional<RestoreRecord> owed(String campaignId) throws HostException {
    return HostFiles.readJson(host, path(campaignId, OWED), RestoreRecord.class);
  }

  Optional<RestoreRecord> done(String campaignId) throws HostException {
    return HostFiles.readJson(host, path(campaignId, DONE), RestoreRecord.class);
  }

  /** Campaigns to which the host owes a restore. */
  List<String> owing() throws HostException {
    if (host.stat(directory()).isEmpty()) {
      return List.of();
    }
    List<String> campaigns = new ArrayList<>();
    for (String name : host.list(directory())) {
      if (name.endsWith(OWED) && !name.endsWith(DONE)) {
        campaigns.add(name.substring(0, name.length() - OWED.length()));
      }
    }
    return campaigns.stream().filter(name -> CAMPAIGN.matcher(name).matches()).sorted().toList();
  }

  void save(RestoreRecord record) throws HostException {
    host.makeDirectories(directory());
    HostFiles.put(host, path(record.campaignId(), OWED), Json.bytes(record));
  }

  /** The restore is proven: nothing is owed any more. */
  void close(RestoreRecord record) throws HostException {
    HostFiles.put(host, path(record.campaignId(), DONE), Json.bytes(record));
    if (host.stat(path(record.campaignId(), OWED)).isPresent()) {
      host.delete(path(record.campaignId(), OWED));
    }
  }

  String directory() {
    return host.workDir() + "/restore";
  }

  private String path(String campaignId, String suffix) {
    // It becomes a part of a path on a production host.
    if (!CAMPAIGN.matcher(campaignId).matches()) {
      throw new IllegalArgumentException("\"" + campaignId + "\" is not the id of a campaign");
    }
    return directory() + "/" + campaignId + suffix;
  }
}
