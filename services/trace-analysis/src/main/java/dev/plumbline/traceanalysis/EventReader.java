package dev.plumbline.traceanalysis;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads one event after another into columns. What the analysis does not use is passed over as soon
 * as the phase or the category tells it: in a trace of a language model that is 70 to 97 % of the
 * events.
 */
final class EventReader {

  private static final Names KEYS =
      Names.of("ph", "cat", "name", "pid", "tid", "ts", "dur", "args");
  private static final int PH = 0;
  private static final int CAT = 1;
  private static final int NAME = 2;
  private static final int PID = 3;
  private static final int TID = 4;
  private static final int TS = 5;
  private static final int DUR = 6;
  private static final int ARGS = 7;

  private static final Names ARG_KEYS =
      Names.of(
          "correlation",
          "stream",
          "device",
          "Collective name",
          "In msg nelems",
          "Group size",
          "dtype",
          "Process Group Name",
          "Process Group Ranks",
          "Seq");
  private static final int CORRELATION = 0;
  private static final int STREAM = 1;
  private static final int DEVICE = 2;
  private static final int COLLECTIVE = 3;
  private static final int ELEMENTS = 4;
  private static final int GROUP_SIZE = 5;
  private static final int TYPE = 6;
  private static final int GROUP = 7;
  private static final int GROUP_RANKS = 8;
  private static final int SEQUENCE = 9;

  /** Category names of Kineto; the last five are those of 2021. */
  private static final Names CATEGORIES =
      Names.of(
          "kernel",
          "gpu_memcpy",
          "gpu_memset",
          "cuda_runtime",
          "cuda_driver",
          "user_annotation",
          "Kernel",
          "Memcpy",
          "Memset",
          "Runtime",
          "Operator");

  private static final int[] USE_OF_CATEGORY = {
    DeviceEvents.KERNEL,
    DeviceEvents.MEMCPY,
    DeviceEvents.MEMSET,
    3,
    3,
    4,
    DeviceEvents.KERNEL,
    DeviceEvents.MEMCPY,
    DeviceEvents.MEMSET,
    3,
    4
  };
  private static final int CALL = 3;
  private static final int ANNOTATION = 4;
  private static final int UNTOLD = -1;
  private static final int UNUSED = -2;

  private static final Pattern RANK_LABEL =
      Pattern.compile("^\\[((?i:[A-Z]{1,6}[-_ ]?\\d+)[^\\]]*)\\] ");

  /** No kernel runs for an hour: such a duration is an overflow. */
  private static final long ABSURD_NS = 3_600_000_000_000L;

  /** Different names, thread ids and argument texts of one file; real ones have some 100 KiB. */
  private static final int TEXT_LIMIT_BYTES = 64 * 1024 * 1024;

  private final JsonBytes json;
  private final Predicate<String> step;
  private final Map<String, Long> bad;
  private final String source;
  private final ReadLimits limits;
  private final Names names = new Names();
  private final Names ids = new Names();
  private final Names words = new Names();
  private final DeviceEvents device = new DeviceEvents();
  private final HostSpans calls = new HostSpans();
  private final HostSpans annotations = new HostSpans();
  private byte[] stepByName = new byte[256];
  private long read;

  // The event being read: offset and length of a token by key, −1 when absent.
  private final int[] offsets = new int[8];
  private final int[] lengths = new int[8];
  private final int[] argOffsets = new int[10];
  private final int[] argLengths = new int[10];
  private boolean nameEscaped;

  EventReader(
      JsonBytes json,
      Predicate<String> step,
      Map<String, Long> bad,
      String source,
      ReadLimits limits) {
    this.json = json;
    this.step = step;
    this.bad = bad;
    this.source = source;
    this.limits = limits;
  }

  Names names() {
    return names;
  }

  DeviceEvents device() {
    return device;
  }

  HostSpans calls() {
    return calls;
  }

  HostSpans annotations() {
    return annotations;
  }

  long read() {
    return read;
  }

  /**
   * The ranks whose events a merging tool put into one file, by the label that it wrote before each
   * process, as SGLang's does: {@code [TP00-DP00] 83}. Empty in a file of one rank.
   */
  Set<String> rankLabels() {
    Set<String> labels = new TreeSet<>();
    for (int id = 0; id < ids.size(); id++) {
      Matcher label = RANK_LABEL.matcher(ids.text(id));
      if (label.find()) {
        labels.add(label.group(1));
      }
    }
    return labels;
  }

  /** Brings the columns into order of time; nothing is read afterwards. */
  void finish() {
    device.sort();
    long clipped = device.clipOverflows();
    if (clipped > 0) {
      bad.merge("clipped-duration", clipped, Long::sum);
    }
    calls.sort();
    annotations.sort();
  }

  /** Reads one event, of which the opening brace has been read. */
  void event() {
    Arrays.fill(lengths, -1);
    Arrays.fill(argLengths, -1);
    json.mark();
    int use = members();
    if (use != UNUSED && use != UNTOLD) {
      use(use);
    }
    json.release();
    read++;
  }

  private int members() {
    int use = UNTOLD;
    boolean complete = false;
    while (true) {
      int b = json.next();
      if (b == '}') {
        json.skipByte();
        return complete ? use : UNUSED;
      } else if (b == ',') {
        json.skipByte();
        continue;
      } else if (b != '"') {
        throw json.fault();
      }
      json.string();
      int key = KEYS.find(json.buffer(), json.at(json.tokenOffset), json.tokenLength);
      json.expect(':');
      if (key == ARGS && json.next() == '{' && use != ANNOTATION) {
        json.skipByte();
        args();
      } else if (json.value() && key >= 0) {
        offsets[key] = json.tokenOffset;
        lengths[key] = json.tokenLength;
        if (key == PH) {
          complete = json.tokenLength == 1 && json.buffer()[json.at(json.tokenOffset)] == 'X';
        } else if (key == CAT) {
          use = useOfCategory();
        } else if (key == NAME) {
          nameEscaped = json.tokenEscaped;
        }
        if ((key == PH && !complete) || use == UNUSED) {
          json.release();
          json.skipToClose();
          return UNUSED;
        }
      }
      afterValue();
    }
  }

  /** A comma or the end must follow a value: anything else is a quote that was not escaped. */
  private void afterValue() {
    int b = json.next();
    if (b != ',' && b != '}') {
      throw json.fault();
    }
  }

  private int useOfCategory() {
    int category = CATEGORIES.find(json.buffer(), json.at(json.tokenOffset), json.tokenLength);
    return category < 0 ? UNUSED : USE_OF_CATEGORY[category];
  }

  private void args() {
    while (true) {
      int b = json.next();
      if (b == '}') {
        json.skipByte();
        return;
      } else if (b == ',') {
        json.skipByte();
        continue;
      } else if (b != '"') {
        throw json.fault();
      }
      json.string();
      int key = ARG_KEYS.find(json.buffer(), json.at(json.tokenOffset), json.tokenLength);
      json.expect(':');
      if (json.value() && key >= 0) {
        argOffsets[key] = json.tokenOffset;
        argLengths[key] = json.tokenLength;
      }
      afterValue();
    }
  }

  private void use(int use) {
    long start = nanos(TS);
    long duration = nanos(DUR);
    if (lengths[NAME] < 0 || start == Decimals.UNREADABLE || duration == Decimals.UNREADABLE) {
      bad.merge("unreadable", 1L, Long::sum);
    } else if (start == 0 && duration == 0) {
      bad.merge("zero-time", 1L, Long::sum);
    } else if (duration < 0) {
      bad.merge("negative-duration", 1L, Long::sum);
    } else if (duration > ABSURD_NS || start > Long.MAX_VALUE - ABSURD_NS) {
      bad.merge("absurd-duration", 1L, Long::sum);
    } else {
      keep(use, start, duration);
    }
  }

  private void keep(int use, long start, long duration) {
    refusePastLimits();
    int name = names.intern(json.buffer(), json.at(offsets[NAME]), lengths[NAME], nameEscaped);
    if (use == ANNOTATION) {
      if (mayBeStep(name)) {
        annotations.add(start, start + duration, thread(), name, Decimals.UNREADABLE);
      }
    } else if (use == CALL) {
      calls.add(start, start + duration, thread(), name, argInteger(CORRELATION));
    } else {
      device.add(start, duration, name, use, stream(), argInteger(CORRELATION), collective());
    }
  }

  private void refusePastLimits() {
    if (device.count() + calls.count() + annotations.count() >= limits.keptEvents()) {
      throw new UnreadableTrace(
          "%s holds more than %,d device events and launches: capture fewer steps, or raise the limit of kept events."
              .formatted(source, limits.keptEvents()));
    }
    if (names.bytes() + ids.bytes() + words.bytes() > TEXT_LIMIT_BYTES) {
      throw new UnreadableTrace(
          source
              + " holds more than 64 MiB of different names, which no trace of torch.profiler does.");
    }
  }

  private boolean mayBeStep(int name) {
    if (name >= stepByName.length) {
      stepByName = Arrays.copyOf(stepByName, Math.max(name + 1, stepByName.length * 2));
    }
    if (stepByName[name] == 0) {
      stepByName[name] = (byte) (step.test(names.text(name)) ? 1 : -1);
    }
    return stepByName[name] > 0;
  }

  private long thread() {
    return (long) id(offsets[PID], lengths[PID]) << 32 | id(offsets[TID], lengths[TID]);
  }

  private long stream() {
    int onDevice =
        argLengths[DEVICE] < 0
            ? id(offsets[PID], lengths[PID])
            : id(argOffsets[DEVICE], argLengths[DEVICE]);
    int stream =
        argLengths[STREAM] < 0
            ? id(offsets[TID], lengths[TID])
            : id(argOffsets[STREAM], argLengths[STREAM]);
    return (long) onDevice << 32 | stream;
  }

  /** Any scalar serves as an identifier, and {@code "7"} is the same as {@code 7}. */
  private int id(int offset, int length) {
    return length < 0 ? 0 : 1 + ids.intern(json.buffer(), json.at(offset), length, false);
  }

  private CollectiveArgs collective() {
    if (argLengths[COLLECTIVE] < 0 && argLengths[GROUP_SIZE] < 0) {
      return null;
    }
    long elements = argInteger(ELEMENTS);
    long size = argInteger(GROUP_SIZE);
    long sequence = argInteger(SEQUENCE);
    return new CollectiveArgs(
        argLengths[COLLECTIVE] < 0 ? null : argText(COLLECTIVE),
        (argText(GROUP) + " " + argText(GROUP_RANKS)).strip(),
        size == Decimals.UNREADABLE ? -1 : size,
        elements == Decimals.UNREADABLE ? -1 : elements,
        argText(TYPE),
        sequence == Decimals.UNREADABLE ? -1 : sequence);
  }

  private String argText(int key) {
    return argLengths[key] < 0
        ? ""
        : words.text(words.intern(json.buffer(), json.at(argOffsets[key]), argLengths[key], false));
  }

  private long argInteger(int key) {
    return argLengths[key] < 0
        ? Decimals.UNREADABLE
        : Decimals.integer(json.buffer(), json.at(argOffsets[key]), argLengths[key]);
  }

  private long nanos(int key) {
    return lengths[key] < 0
        ? Decimals.UNREADABLE
        : Decimals.microsToNanos(json.buffer(), json.at(offsets[key]), lengths[key]);
  }
}
