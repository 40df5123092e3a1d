package dev.plumbline.schemas;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Checks of single values; each says nothing of a value that is absent. */
record Checks(Faults faults) {

  void required(String path, Object value, String why) {
    if (value == null) {
      faults.missing(path, why);
    }
  }

  void text(String path, String value) {
    if (value == null) {
      return;
    }
    if (value.isBlank()) {
      faults.add(path, "is empty; give it a value or leave it out");
    } else if (value.length() > Limits.TEXT) {
      faults.add(path, "is longer than " + Limits.TEXT + " characters");
    } else if (value.chars().anyMatch(Character::isISOControl)) {
      faults.add(path, "holds control characters");
    }
  }

  void range(String path, Number value, long least, long most) {
    if (value != null && (value.longValue() < least || value.longValue() > most)) {
      faults.add(path, "must be from " + least + " to " + most + ", but is " + value);
    }
  }

  void seconds(String path, Double value) {
    if (value != null && !(value > 0 && value <= Limits.SECONDS)) {
      faults.add(
          path,
          "must be more than 0 and at most " + (long) Limits.SECONDS + " seconds, but is " + value);
    }
  }

  void rate(String path, Double value) {
    if (value != null && !(value > 0 && value <= Limits.RATE)) {
      faults.add(
          path,
          "must be more than 0 and at most "
              + (long) Limits.RATE
              + " requests per second, but is "
              + value);
    }
  }

  void oneOf(String path, String value, Collection<String> known) {
    if (value != null && !known.contains(value)) {
      faults.add(path, Faults.unknown("value", value, known));
    }
  }

  /**
   * @param form the pattern in words
   */
  void form(String path, String value, Pattern pattern, String form) {
    if (value != null && !pattern.matcher(value).matches()) {
      faults.add(path, "\"" + Faults.shortened(value) + "\" is not " + form);
    }
  }

  void absolute(String path, String value) {
    text(path, value);
    if (value != null && !value.isBlank() && !value.startsWith("/")) {
      faults.add(path, "must be an absolute path, but is \"" + Faults.shortened(value) + "\"");
    }
  }

  void size(String path, Collection<?> list, long most) {
    if (list == null) {
      return;
    }
    if (list.isEmpty()) {
      faults.add(path, "is an empty list; fill it or leave it out");
    } else if (list.size() > most) {
      faults.add(path, "has " + list.size() + " entries; at most " + most + " are allowed");
    }
  }

  void texts(String path, List<String> list, long most) {
    size(path, list, most);
    for (int i = 0; list != null && i < list.size(); i++) {
      text(path + "[" + i + "]", list.get(i));
    }
  }

  void regex(String path, String value) {
    text(path, value);
    if (value != null) {
      try {
        Pattern.compile(value);
      } catch (PatternSyntaxException e) {
        faults.add(
            path,
            "is not a regular expression: "
                + e.getDescription().toLowerCase(Locale.ROOT)
                + " near character "
                + Math.max(0, e.getIndex()));
      }
    }
  }

  /** Never repeats the URL: it may hold a password. */
  void url(String path, String value) {
    if (value == null) {
      return;
    }
    try {
      URI uri = new URI(value);
      String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
      if (!scheme.equals("http") && !scheme.equals("https")) {
        faults.add(path, "must begin with http:// or https://");
      } else if (uri.getHost() == null || uri.getPort() == 0 || uri.getPort() > 65_535) {
        faults.add(path, "must have a host, and a port from 1 to 65535 if any");
      } else if (uri.getRawUserInfo() != null) {
        faults.add(path, "must not hold a user or password; keys are named in macro.apiKeyEnv");
      } else if (uri.getRawQuery() != null || uri.getRawFragment() != null) {
        faults.add(path, "must end after the path, without ? or #");
      } else if (uri.getPath().matches(".*/v1/?")) {
        faults.add(path, "must be given without /v1, which is added to it");
      }
    } catch (URISyntaxException e) {
      faults.add(
          path,
          "is not a URL: "
              + e.getReason().toLowerCase(Locale.ROOT)
              + " at character "
              + Math.max(0, e.getIndex()));
    }
  }
}
