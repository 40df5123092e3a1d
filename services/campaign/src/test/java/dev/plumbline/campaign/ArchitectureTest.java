package dev.plumbline.campaign;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** The story and the report know nothing of what runs them. */
class ArchitectureTest {

  private static final String RUNNERS =
      "(CampaignApplication|CampaignConfig|CampaignProcessor|CampaignResource|CampaignTopology"
          + "|CampaignViews|Inbox|Outbox|RequestSender)";

  private final JavaClasses all =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.plumbline.campaign");

  @Test
  void theDomainImportsNoMessagingAndNoContainer() {
    noClasses()
        .that()
        .haveNameNotMatching("dev\\.plumbline\\.campaign\\." + RUNNERS + "(\\$.*)?")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "org.apache.kafka..",
            "io.quarkus..",
            "io.smallrye..",
            "jakarta..",
            "org.eclipse.microprofile..",
            "org.jboss..")
        .check(all);
  }

  @Test
  void theServiceIsOneFlatPackage() {
    classes().should().resideInAPackage("dev.plumbline.campaign").check(all);
  }

  @Test
  void theCoordinatorHasNoClock() {
    noClasses()
        .that()
        .haveNameMatching(
            "dev\\.plumbline\\.campaign\\.(Coordinator|Move|Reports|Statuses)(\\$.*)?")
        .should()
        .callMethod(java.time.Instant.class, "now")
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(java.time.Clock.class)
        .check(all);
  }
}
