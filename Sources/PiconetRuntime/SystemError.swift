import CPiconetSystem

/// A system call that failed.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The call, such as `epoll_create1`.
  public let call: String
  /// The error number (errno).
  public let number: Int32

  public init(_ call: String, _ number: Int32) {
    self.call = call
    self.number = number
  }

  /// Such as `epoll_create1: Too many open files (EMFILE)`; with the limits that may be the reason, if a thread could
  /// not be started.
  public var description: String {
    let text = "\(call): \(Self.text(number))"
    guard call == "pthread_create" else { return text }
    return
      "no further thread could be started: a limit on tasks (ulimit -u, TasksMax) or memory (ulimit -v) is too low; "
      + text
  }

  /// Returns the meaning of an error number, such as `Connection refused (ECONNREFUSED)`.
  public static func text(_ number: Int32) -> String {
    "\(words(number)) (\(String(cString: piconet_error_name(number))))"
  }

  /// Returns the meaning without the number's name: `Connection refused`.
  public static func words(_ number: Int32) -> String { String(cString: piconet_error_description(number)) }
}
