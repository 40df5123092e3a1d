package dev.plumbline.microbench;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The domain knows neither Kafka nor SmallRye nor Quarkus. */
@AnalyzeClasses(
    packages = "dev.plumbline.microbench",
    importOptions = ImportOption.DoNotIncludeTests.class)
class LayeringTest {

  @ArchTest
  static final ArchRule ONLY_COMMANDS_TOUCH_MESSAGING =
      noClasses()
          .that()
          .haveNameNotMatching(".*(Commands|Config)(\\$.*)?")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "org.apache.kafka..", "io.smallrye..", "io.quarkus..", "org.eclipse.microprofile..");

  @ArchTest
  static final ArchRule WORKERS_DO_NOT_KNOW_EACH_OTHER =
      noClasses()
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "dev.plumbline.campaign..",
              "dev.plumbline.scriptdeployment..",
              "dev.plumbline.macroload..",
              "dev.plumbline.traceanalysis..",
              "dev.plumbline.bottleneckattribution..",
              "dev.plumbline.lab..",
              "dev.plumbline.gpulifecycle..");
}
