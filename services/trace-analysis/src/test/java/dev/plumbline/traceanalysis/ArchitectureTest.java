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
  static final ArchRule onlyCommandsTouchMessaging =
      noClasses()
          .that()
          .haveSimpleNameNotStartingWith("TraceAnalysisCommands")
          .and()
          .haveSimpleNameNotStartingWith("SampleTopic")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "org.apache.kafka..",
              "io.smallrye..",
              "io.quarkus..",
              "jakarta..",
              "org.eclipse.microprofile..",
              "dev.plumbline.workerkit..");
}
