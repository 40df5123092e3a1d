package dev.plumbline.scriptdeployment;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Only the class that takes commands knows of messaging, only the settings know of Quarkus. */
@AnalyzeClasses(
    packages = "dev.plumbline.scriptdeployment",
    importOptions = ImportOption.DoNotIncludeTests.class)
class LayeringTest {

  @ArchTest
  static final ArchRule DOMAIN_KNOWS_NO_MESSAGING =
      noClasses()
          .that()
          .haveSimpleNameNotEndingWith("Commands")
          .and()
          .haveSimpleNameNotEndingWith("Config")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "org.apache.kafka..",
              "io.smallrye..",
              "io.quarkus..",
              "org.eclipse.microprofile..",
              "jakarta..");

  @ArchTest
  static final ArchRule WORKERS_KNOW_NOTHING_OF_EACH_OTHER =
      noClasses()
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "dev.plumbline.microbench..",
              "dev.plumbline.gpulifecycle..",
              "dev.plumbline.macroload..",
              "dev.plumbline.traceanalysis..",
              "dev.plumbline.campaign..");
}
