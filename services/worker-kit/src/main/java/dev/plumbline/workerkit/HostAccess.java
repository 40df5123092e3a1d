package dev.plumbline.workerkit;

import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A host's commands and files, the same over SSH and on this machine. Safe for use by several
 * threads. After a lost connection the next call connects anew.
 */
public interface HostAccess extends AutoCloseable {

  HostEntry entry();

  /** The user's home on the host, absolute. */
  String home();

  /** Where Plumbline keeps its own files on the host, absolute; not made until needed. */
  String workDir();

  /**
   * Runs a command with {@code LC_ALL=C}, without a terminal, its standard input empty. Each
   * argument arrives as it is, whatever it contains; no shell looks at it. A program that does not
   * exist gives exit status 127.
   *
   * @param timeout after it the command is given up; on a host reached by SSH it may go on there
   * @throws HostException {@code time-out}, {@code lost} (the outcome is unknown) or a failure to
   *     connect
   */
  Exec exec(List<String> argv, Duration timeout) throws HostException;

  /** The same with a standard input. */
  Exec exec(List<String> argv, byte[] stdin, Duration timeout) throws HostException;

  /** The content of a file, as a stream; reading it may throw when the connection is lost. */
  InputStream read(String path) throws HostException;

  /** Empty when there is nothing at the path; symbolic links are followed. */
  Optional<FileStat> stat(String path) throws HostException;

  /**
   * Writes a file in place; after a failure a part of it may be there.
   *
   * @param mode permission bits, such as {@code 0644}
   */
  void write(String path, InputStream content, int mode) throws HostException;

  /** Moves a file in one step over what is there, inside one file system. */
  void rename(String from, String to) throws HostException;

  /** Makes the directory and what is missing above it. */
  void makeDirectories(String path) throws HostException;

  /** The names in a directory, sorted, without {@code .} and {@code ..}. */
  List<String> list(String directory) throws HostException;

  /** Deletes a file or an empty directory; absent is good. */
  void delete(String path) throws HostException;

  @Override
  void close();
}
