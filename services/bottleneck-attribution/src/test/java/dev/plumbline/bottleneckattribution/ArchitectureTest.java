package dev.plumbline.bottleneckattribution;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(
    packages = "dev.plumbline.bottleneckattribution",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  /** Only the classes named Attribution… are glue; the engine is plain Java. */
  @ArchTest
  static final ArchRule THE_ENGINE_KNOWS_NO_FRAMEWORK =
      noClasses()
          .that()
          .haveNameNotMatching(".*\\.Attribution[A-Z]\\w+(\\$.*)?")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "org.apache.kafka..", "io.quarkus..", "io.smallrye..", "jakarta..", "org.eclipse..");

  @ArchTest
  static final ArchRule WORKERS_DO_NOT_KNOW_EACH_OTHER =
      noClasses()
          .should()
          .dependOnClassesThat(
              com.tngtech.archunit.base.DescribedPredicate.describe(
                  "are of another service",
                  c ->
                      c.getPackageName().startsWith("dev.plumbline.")
                          && !c.getPackageName().startsWith("dev.plumbline.schemas")
                          && !c.getPackageName().equals("dev.plumbline.bottleneckattribution")));
}
