package dev.plumbline.macroload;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectWriter;
import dev.plumbline.schemas.Json;
import dev.plumbline.schemas.load.LoadReport;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** The forms in which a load report can be written. */
public enum ReportFormat {
  /** A table to read in a terminal. */
  TEXT {
    @Override
    public String write(LoadReport report) {
      return TextReport.of(report);
    }
  },
  /** The report itself; keys by definitions, section 9. */
  JSON {
    @Override
    public String write(LoadReport report) {
      return json(report);
    }
  },
  /** One line per level, comma separated, times in milliseconds. */
  CSV {
    @Override
    public String write(LoadReport report) {
      return CsvReport.of(report);
    }
  },
  /** One page without any other file. */
  HTML {
    @Override
    public String write(LoadReport report) {
      return HtmlReport.of(report);
    }
  },
  /** The keys of {@code vllm bench serve --save-result}, one JSON object per level and line. */
  VLLM {
    @Override
    public String write(LoadReport report) {
      return VllmReport.of(report);
    }
  };

  /** The report in this form, ending with a line end. */
  public abstract String write(LoadReport report);

  /** The format of this name; empty when there is none. */
  public static Optional<ReportFormat> named(String name) {
    return Arrays.stream(values()).filter(format -> format.id().equals(name)).findFirst();
  }

  /** The name on the command line. */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** All names, to be shown. */
  public static String names() {
    return Arrays.stream(values()).map(ReportFormat::id).collect(Collectors.joining(", "));
  }

  private static String json(LoadReport report) {
    ObjectWriter writer = Json.mapper().writerWithDefaultPrettyPrinter();
    try {
      return writer.writeValueAsString(report) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "cannot write the load report as JSON: " + e.getOriginalMessage(), e);
    }
  }
}
