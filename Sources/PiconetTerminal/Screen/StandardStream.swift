import Glibc

/// Standard output or standard error, written without a buffer: each write is on its way when the call returns, so that
/// a reader of `--json` sees every event at once and nothing is lost when the process is killed.
///
/// SIGPIPE must be ignored in the process (`StandardStream.ignoreBrokenPipes()`). The first failure is kept and all
/// later writes do nothing: when the reader has gone away (`imagesend --json | head -1`), the files are still sent and
/// the exit code is still that of the files, without a complaint.
package struct StandardStream: Sendable {
  /// Why no more can be written.
  package enum Failure: Error, Hashable, Sendable {
    /// EPIPE: there is no reader any more.
    case readerGone
    /// Another errno, such as ENOSPC if the output goes to a file.
    case system(Int32)
  }

  package let descriptor: Int32
  package private(set) var failure: Failure?

  package static let output = StandardStream(descriptor: STDOUT_FILENO)
  package static let error = StandardStream(descriptor: STDERR_FILENO)

  package init(descriptor: Int32) { self.descriptor = descriptor }

  package mutating func write(_ bytes: ArraySlice<UInt8>) {
    bytes.withUnsafeBytes { bytes in if failure == nil { failure = Self.writeAll(bytes, to: descriptor) } }
  }

  package mutating func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      if failure == nil { failure = Self.writeAll(UnsafeRawBufferPointer(bytes), to: descriptor) }
    }
  }

  /// Occupies the numbers 0 to 2 if the caller has closed them (`>&-`): otherwise a socket or a received file might get
  /// one, and output would be written to it. They are opened the wrong way round, so that using them still fails.
  package static func occupyClosed() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      // The lowest free number is this one.
      _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  package static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

  private static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Failure? {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      if written >= 0 {
        rest = rest.dropFirst(written)
        continue
      }
      switch errno {
      case EINTR: continue
      case EPIPE: return .readerGone
      case EAGAIN:
        // The terminal or pipe is shared with a program that made it non-blocking: wait, as a blocking one would.
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if poll(&entry, 1, -1) < 0, errno != EINTR { return .system(errno) }
      default: return .system(errno)
      }
    }
    return nil
  }
}
