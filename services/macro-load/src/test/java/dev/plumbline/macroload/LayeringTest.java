package dev.plumbline.macroload;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The engine is plain Java: only the class that takes commands knows of messaging. */
@AnalyzeClasses(
    packages = "dev.plumbline.macroload",
    importOptions = ImportOption.DoNotIncludeTests.class)
class LayeringTest {

  @ArchTest
  static final ArchRule ENGINE_KNOWS_NO_MESSAGING =
      noClasses()
          .that()
          .haveSimpleNameNotEndingWith("Commands")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "org.apache.kafka..",
              "io.smallrye..",
              "io.quarkus..",
              "org.eclipse.microprofile..",
              "jakarta..",
              "dev.plumbline.workerkit..");

  /** Protocol, recorder and figures can be tested without a socket. */
  @ArchTest
  static final ArchRule FIGURES_KNOW_NO_NETWORK =
      noClasses()
          .that()
          .haveSimpleName("Exchange")
          .or()
          .haveSimpleName("Chunk")
          .or()
          .haveSimpleName("SseParser")
          .or()
          .haveSimpleName("LevelRecorder")
          .or()
          .haveSimpleName("ScalingFit")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.vertx..", "io.netty..", "java.net..");
}
