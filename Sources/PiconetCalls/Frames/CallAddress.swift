/// The target of a call. A class: it goes from the frame to the method, and is not copied.
public final class CallAddress: Hashable, Sendable {
  public let path: String
  public let interface: String
  /// The version of the interface as the caller knows it.
  public let version: UInt64
  public let method: String

  public init(path: String, interface: String, version: UInt64, method: String) {
    self.path = path
    self.interface = interface
    self.version = version
    self.method = method
  }

  public static func == (left: CallAddress, right: CallAddress) -> Bool {
    left === right
      || left.path == right.path && left.interface == right.interface && left.version == right.version
        && left.method == right.method
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(interface)
    hasher.combine(version)
    hasher.combine(method)
  }
}
