import PiconetCalls

/// An interface that a node shows to all nodes that can see it.
public struct AdvertisedInterface: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The full name.
  public let name: String
  /// The version in which it is served: 1 or more.
  public let version: Int

  /// - Parameters:
  ///   - name: the name in the interface's table.
  ///   - version: the version of the table. Default 1.
  public init(_ name: String, version: Int = 1) {
    self.name = name
    self.version = version
  }

  /// Creates an interface as its table has it.
  public init(_ interface: RemoteInterface) { self.init(interface.name, version: interface.version) }

  /// Creates an interface of this name, in version 1.
  public init(stringLiteral name: String) { self.init(name) }

  /// The form in which it is advertised: the name, and behind it `:` and the version, if that is above 1.
  public var description: String { version == 1 ? name : "\(name):\(version)" }

  /// Reads the form that `description` gives.
  /// - Returns: nil for text that is not a valid name, or a version below 1.
  public init?(text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard let name = parts.first, parts.count <= 2, let version = parts.count == 1 ? 1 : Int(parts[1]) else {
      return nil
    }
    self.init(name, version: version)
    if !isValid { return nil }
  }

  /// Whether it can be advertised.
  var isValid: Bool { Advertisement.isPlainName(name) && version >= 1 }

  /// Returns whether clients that look for an interface and version can use this one.
  func serves(_ wanted: AdvertisedInterface) -> Bool { name == wanted.name && version >= wanted.version }
}

extension Advertisement {
  /// Returns whether this is a name without characters that only the names of methods may have.
  static func isPlainName(_ name: String) -> Bool {
    CallLimits.isName(name) && name.utf8.allSatisfy { !"(:)".utf8.contains($0) }
  }
}
