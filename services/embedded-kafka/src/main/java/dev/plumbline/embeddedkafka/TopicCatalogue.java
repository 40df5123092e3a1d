package dev.plumbline.embeddedkafka;

import dev.plumbline.schemas.Topic;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.errors.TopicExistsException;

/** Puts the topics of {@link Topic} on a broker. */
public final class TopicCatalogue {

  private static final long TIMEOUT_SECONDS = 30;
  private static final int DEAD_LETTER_PARTITIONS = 1;

  private TopicCatalogue() {}

  /**
   * Creates each topic that is absent, with its dead-letter topic; what exists is left as it is.
   * The replication factor is the broker's default.
   *
   * @throws IllegalStateException with one sentence: the broker does not answer, or a topic exists
   *     with another number of partitions than the catalogue's
   */
  public static void create(String bootstrap) {
    Map<String, Object> config =
        Map.of(
            AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG,
            bootstrap,
            AdminClientConfig.CLIENT_ID_CONFIG,
            "plumbline-topics",
            AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
            (int) TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS));
    try (Admin admin = Admin.create(config)) {
      Set<String> present = admin.listTopics().names().get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      List<NewTopic> absent =
          topics().stream().filter(topic -> !present.contains(topic.name())).toList();
      createAll(admin, absent);
      verify(admin);
    } catch (ExecutionException | TimeoutException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new IllegalStateException(
          "cannot create the topics on " + bootstrap + ": " + reason(cause), cause);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while creating topics on " + bootstrap, e);
    }
  }

  /** Every topic of the catalogue and every dead-letter topic, as the Admin takes them. */
  static List<NewTopic> topics() {
    List<NewTopic> all = new ArrayList<>();
    for (Topic topic : Topic.values()) {
      all.add(
          new NewTopic(topic.topicName(), Optional.of(topic.partitions()), Optional.empty())
              .configs(topic.config()));
      topic
          .deadLetterTopic()
          .ifPresent(
              name ->
                  all.add(
                      new NewTopic(name, Optional.of(DEAD_LETTER_PARTITIONS), Optional.empty())
                          .configs(Topic.deadLetterConfig())));
    }
    return all;
  }

  private static void createAll(Admin admin, List<NewTopic> absent)
      throws InterruptedException, ExecutionException, TimeoutException {
    for (var result : admin.createTopics(absent).values().values()) {
      try {
        result.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        // Another process was quicker; verify() looks at what it made.
        if (!(e.getCause() instanceof TopicExistsException)) {
          throw e;
        }
      }
    }
  }

  private static void verify(Admin admin)
      throws InterruptedException, ExecutionException, TimeoutException {
    List<String> names = List.of(Topic.values()).stream().map(Topic::topicName).toList();
    Map<String, TopicDescription> found =
        admin.describeTopics(names).allTopicNames().get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    for (Topic topic : Topic.values()) {
      int partitions = found.get(topic.topicName()).partitions().size();
      if (partitions != topic.partitions()) {
        throw new IllegalStateException(
            "topic %s has %d partitions but Plumbline needs %d: delete it or recreate it so"
                .formatted(topic.topicName(), partitions, topic.partitions()));
      }
    }
  }

  private static String reason(Throwable cause) {
    return cause.getMessage() == null
        ? "no answer within " + TIMEOUT_SECONDS + " s"
        : cause.getMessage();
  }
}
