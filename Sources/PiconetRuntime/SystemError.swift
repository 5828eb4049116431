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

  /// Such as `epoll_create1: Too many open files (EMFILE)`.
  public var description: String { "\(call): \(Self.text(number))" }

  /// What an error number means, such as `Connection refused (ECONNREFUSED)`.
  public static func text(_ number: Int32) -> String {
    "\(words(number)) (\(String(cString: piconet_error_name(number))))"
  }

  /// As `text`, without the number's name: `Connection refused`.
  public static func words(_ number: Int32) -> String { String(cString: piconet_error_description(number)) }
}
