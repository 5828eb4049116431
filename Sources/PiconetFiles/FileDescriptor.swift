import CPiconetSystem
import Glibc

/// Owns a file descriptor and closes it when it is released. Confined to one thread.
final class FileDescriptor {
  /// -1 after `close`.
  private(set) var number: Int32
  private var isLocked = false

  init(_ number: Int32) { self.number = number }

  deinit { close() }

  /// - Returns: 0 or errno: the file system's report about bytes that it had taken before.
  @discardableResult
  func close() -> Int32 {
    guard number >= 0 else { return 0 }
    // A child between fork and exec has copies of all descriptors, and a lock lasts as long as any copy of its own.
    if isLocked { _ = flock(number, LOCK_UN) }
    defer { number = -1 }
    return Self.closing(number)
  }

  /// Closes a descriptor. On Linux, close(2) has closed it even if it fails. An interrupted call has nothing more to
  /// report.
  static func closing(_ number: Int32) -> Int32 {
    guard Glibc.close(number) != 0 else { return 0 }
    return errno == EINTR ? 0 : errno
  }

  /// Locks the file against all others who lock it (flock(2)), until `close`. Does not wait.
  /// - Returns: 0 or errno; EWOULDBLOCK if another process has the lock.
  func lock() -> Int32 {
    let locked = Self.retrying { flock(number, LOCK_EX | LOCK_NB) }
    isLocked = isLocked || locked.result == 0
    return locked.errno
  }

  func status() -> stat? {
    var status = stat()
    return fstat(number, &status) == 0 ? status : nil
  }

  /// Repeats a call that a signal interrupted, and for a few seconds one for which no descriptor is free. Returns its
  /// result and, if that is negative, errno.
  static func retrying<Result: SignedInteger>(_ call: () -> Result) -> (result: Result, errno: Int32) {
    var waited: Int32 = 0
    while true {
      let result = call()
      if result >= 0 { return (result, 0) }
      let number = errno
      if number != EINTR, !piconet_awaits_descriptor(number, &waited) { return (result, number) }
    }
  }
}
