/// One member tells another of a third one, which the receiver may take as a member of its own.
public struct Introduce: Hashable, Sendable {
  /// Who is introduced.
  public var member: NodeID
  /// How long the introduction stands, in milliseconds.
  public var timeout: UInt64
  /// What the introducer calls it: a label, and no proof of anything.
  public var name: String
  /// Where the introducer has reached it, or sees it.
  public var addresses: [HostAddress]

  public init(_ member: NodeID, timeout: UInt64, name: String, addresses: [HostAddress] = []) {
    self.member = member
    self.timeout = timeout
    self.name = name
    self.addresses = addresses
  }
}

/// Where a device may be dialled, as a third one tells it.
public struct HostAddress: Hashable, Sendable {
  /// The transport's number in the document; others may be added.
  public let transport: UInt8
  /// An IP address of 4 or 16 bytes, or a Bluetooth device address of 6, the most significant byte first.
  public let host: [UInt8]
  /// TCP's port, L2CAP's PSM or RFCOMM's channel; not 0.
  public let port: UInt16

  public init(transport: UInt8, host: [UInt8], port: UInt16) {
    self.transport = transport
    self.host = host
    self.port = port
  }
}
