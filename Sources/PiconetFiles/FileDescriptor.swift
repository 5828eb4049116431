import Glibc

/// Owns one descriptor of the system and closes it with itself. Confined to one thread.
final class FileDescriptor {
  /// -1 after `close`.
  private(set) var number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close() }

  func close() {
    guard number >= 0 else { return }
    // An EINTR of close has closed the descriptor on Linux; what could fail was synchronized before.
    _ = Glibc.close(number)
    number = -1
  }

  func status() -> stat? {
    var status = stat()
    return fstat(number, &status) == 0 ? status : nil
  }

  /// Repeats a call that a signal interrupted. Gives its result and, if that is negative, errno.
  static func retrying<Result: SignedInteger>(_ call: () -> Result) -> (result: Result, errno: Int32) {
    while true {
      let result = call()
      if result >= 0 { return (result, 0) }
      let number = errno
      if number != EINTR { return (result, number) }
    }
  }
}
