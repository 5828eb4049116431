import Glibc

/// A lock that one process at a time holds, over a file of the state folder. The file stays: removing it would let two
/// processes hold two locks.
struct StateLock {
  /// How long a process waits for others. Each holds the lock for one change, so forty at once have room.
  static let longestTime = Duration.seconds(5)
  private static let pause: UInt32 = 5_000  // microseconds

  private let descriptor: Int32

  /// Takes the lock; blocks for as long as `time`.
  /// - Throws: `busy` if another process holds it for longer; a stopped process may hold it forever.
  init(_ path: String, within time: Duration) throws(StateFailure) {
    descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system("open", path: path) }
    let end = ContinuousClock.now + time
    repeat {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      guard errno == EWOULDBLOCK || errno == EINTR else {
        let failure = StateFailure.system("flock", path: path)
        Glibc.close(descriptor)
        throw failure
      }
      usleep(Self.pause)
    } while ContinuousClock.now < end
    Glibc.close(descriptor)
    throw StateFailure(.busy, path: path, "another process holds the lock; see which with: fuser '\(path)'")
  }

  /// Closing alone releases the lock only when no child that is about to exec has a copy of the descriptor.
  func release() {
    _ = flock(descriptor, LOCK_UN)
    Glibc.close(descriptor)
  }
}
