import Glibc

/// Owns a file descriptor and closes it when it is released. Confined to one thread.
final class FileDescriptor {
  /// -1 after `close`.
  private(set) var number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close() }

  func close() {
    guard number >= 0 else { return }
    // On Linux, close has closed the descriptor even if it returns EINTR; whatever could fail was synchronized before.
    _ = Glibc.close(number)
    number = -1
  }

  func status() -> stat? {
    var status = stat()
    return fstat(number, &status) == 0 ? status : nil
  }

  /// Repeats a call that a signal interrupted. Returns its result and, if that is negative, errno.
  static func retrying<Result: SignedInteger>(_ call: () -> Result) -> (result: Result, errno: Int32) {
    while true {
      let result = call()
      if result >= 0 { return (result, 0) }
      let number = errno
      if number != EINTR { return (result, number) }
    }
  }
}
