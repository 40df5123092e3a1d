package dev.plumbline.traceanalysis;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The engine is plain Java, so that the command line needs no broker and no container. */
@AnalyzeClasses(
    packages = "dev.plumbline.traceanalysis",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule onlyTheMessagingClassesTouchMessaging =
      noClasses()
          .that()
          .doNotHaveSimpleName("TraceAnalysisCommands")
          .and()
          .doNotHaveSimpleName("KafkaSamples")
          .and()
          .doNotHaveSimpleName("TraceAnalysisConfig")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "org.apache.kafka..",
              "io.smallrye..",
              "io.quarkus..",
              "jakarta..",
              "org.eclipse.microprofile..");

  @ArchTest
  static final ArchRule theEngineKnowsNoHost =
      noClasses()
          .that()
          .haveNameNotMatching(".*\\.(TraceAnalysisCommands|AnalyseWork|HostTraces)(\\$.*)?")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.plumbline.workerkit..");
}
