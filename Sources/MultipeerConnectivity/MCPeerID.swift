import Foundation

/// A peer: a display name, and a large random number that distinguishes it from others of that name.
///
/// Each call of `init(displayName:)` makes another peer, even with the same name. To stay the same peer across starts
/// of a program, archive it (`NSKeyedArchiver`, with secure coding) and use that. Peers that come from discovery and
/// sessions equal the one that was made on their own device, with the same `hash` on all devices.
///
/// Any thread may use it. Copying gives the same object, so it can be a key.
///
/// Source: `MCPeerID` of Multipeer Connectivity. A name of more than 63 bytes stops the program, as there, with the
/// rule on standard error. Unlike there, an empty name is allowed: it stands for the name of the host, which
/// `Host.current().localizedName ?? ""` does not give on Linux.
///
/// Unchecked, since it may be subclassed: what is here never changes after the initialiser, and a subclass is
/// responsible for variables that it adds.
open class MCPeerID: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  let identifier: UInt64
  private let name: String

  /// Creates a new peer.
  /// - Parameter myDisplayName: the name that users see; at most 63 bytes of UTF-8.
  public init(displayName myDisplayName: String) {
    if let rule = DisplayName.brokenRule(myDisplayName) { refuse("MCPeerID(displayName:)", rule) }
    name = myDisplayName.isEmpty ? DisplayName.ofHost : myDisplayName
    identifier = UInt64.random(in: 1...UInt64.max)
  }

  /// Creates a peer that was made elsewhere.
  init(identifier: UInt64, displayName: String) {
    self.identifier = identifier
    name = displayName
  }

  /// Reads an archived peer.
  public required init?(coder: NSCoder) {
    let identifier = UInt64(bitPattern: coder.decodeInt64(forKey: Key.identifier))
    guard let name = coder.decodeObject(of: NSString.self, forKey: Key.name).map({ $0 as String? ?? "" }),
      identifier != 0, !name.isEmpty, DisplayName.brokenRule(name) == nil
    else { return nil }
    self.identifier = identifier
    self.name = name
  }

  /// The name that its user, or its program, has given it. Not to be trusted: escape it before showing it on a
  /// terminal.
  open var displayName: String { name }

  /// True.
  open class var supportsSecureCoding: Bool { true }

  /// Archives the peer.
  open func encode(with coder: NSCoder) {
    coder.encode(Int64(bitPattern: identifier), forKey: Key.identifier)
    coder.encode(name as NSString, forKey: Key.name)
  }

  private enum Key {
    static let identifier = "piconet.identifier"
    static let name = "piconet.displayName"
  }

  /// Returns the peer itself: it never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The hash of the random number alone, so that devices that compare their hashes agree.
  open override var hash: Int { Int(truncatingIfNeeded: identifier) }

  /// Returns whether it is the same peer, by the random number.
  open override func isEqual(_ object: Any?) -> Bool { (object as? MCPeerID)?.identifier == identifier }

  /// For debugging.
  open override var description: String { "<MCPeerID: \(String(identifier, radix: 16)) DisplayName = \(name)>" }
}

enum DisplayName {
  static let byteLimit = 63

  static func brokenRule(_ name: String) -> String? {
    name.utf8.count > byteLimit
      ? "a display name has at most \(byteLimit) bytes of UTF-8, and this one has \(name.utf8.count)" : nil
  }

  /// The name of this host, as much of it as fits.
  static var ofHost: String {
    let name = cut(ProcessInfo.processInfo.hostName)
    return name.isEmpty ? "Linux" : name
  }

  static func cut(_ name: String) -> String {
    var name = name
    while name.utf8.count > byteLimit { name.removeLast() }
    return name
  }

  /// Returns the name as a node may have it, with spaces in place of control characters.
  static func ofNode(_ name: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      scalars.append(scalar.properties.generalCategory == .control ? " " : scalar)
    }
    return cut(String(scalars))
  }
}

/// Stops the program where an initialiser can't throw, and says which rule was broken, in release builds too.
func refuse(_ function: String, _ rule: String) -> Never {
  FileHandle.standardError.write(Data("MultipeerConnectivity: \(function): \(rule)\n".utf8))
  preconditionFailure(rule)
}
