import Glibc

/// A trace on its way to a file: the loop, which never waits, appends bytes, and a separate thread writes them.
///
/// Only this user can read the file: it holds the messages.
public final class TraceFile: Sendable {
  private let worker: WorkerThread
  private let descriptor: Int32
  private let state = Monitor(State())

  private struct State {
    var waiting = 0
    var failure: SystemError?
  }

  /// The number of bytes that may wait for the disk.
  public static let waitingLimit = 32 << 20

  /// Creates the file with mode 0600; a file or a link with this name is replaced, and a link is not followed. Anything
  /// else, such as a device, stays and is refused: otherwise root, who may unlink it, could take /dev/null from the
  /// whole machine.
  public init(path: String) throws(SystemError) {
    var status = stat()
    if lstat(path, &status) == 0 {
      switch status.st_mode & S_IFMT {
      case S_IFREG, S_IFLNK: break
      case S_IFDIR: throw SystemError("open", EISDIR)
      default: throw SystemError("open: no regular file", EINVAL)
      }
    }
    // Never into a file that another user has put there: a new file, or none.
    if unlink(path) != 0, errno != ENOENT { throw SystemError("unlink", errno) }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError("open", errno) }
    self.descriptor = descriptor
    do throws(SystemError) {
      worker = try WorkerThread(name: "piconet-trace", limit: 65_536)
    } catch {
      _ = Glibc.close(descriptor)
      throw error
    }
  }

  /// Any thread. Appends bytes.
  /// - Returns: false if too much waits or the disk has failed: then these bytes are not written, and nothing should
  ///   follow them.
  public func append(_ bytes: [UInt8]) -> Bool {
    let isTaken = state.withLock { state in
      guard state.failure == nil, state.waiting + bytes.count <= Self.waitingLimit else { return false }
      state.waiting += bytes.count
      return true
    }
    return isTaken && worker.submit { self.write(bytes) }
  }

  private func write(_ bytes: [UInt8]) {
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let failure = SystemError("write", errno)
        state.withLock { $0.failure = failure }
        return
      }
      done += count
    }
    state.withLock { $0.waiting -= bytes.count }
  }

  /// Not on the loop: waits until everything is written, then closes the file. Nothing may be appended afterwards.
  /// - Returns: why not everything could be written.
  @discardableResult
  public func close() -> SystemError? {
    worker.stop()
    _ = Glibc.close(descriptor)
    return state.withLock { $0.failure }
  }
}
