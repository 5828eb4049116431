/// An introduction: one member tells another of a third one, which the receiver may accept as its own member.
public struct Introduce: Hashable, Sendable {
  /// The introduced member.
  public var member: NodeID
  /// How long the introduction stands, in milliseconds.
  public var timeout: UInt64
  /// The introducer's name for the member: a label, and no proof of anything.
  public var name: String
  /// The addresses at which the introducer has reached the member, or sees it.
  public var addresses: [HostAddress]

  public init(_ member: NodeID, timeout: UInt64, name: String, addresses: [HostAddress] = []) {
    self.member = member
    self.timeout = timeout
    self.name = name
    self.addresses = addresses
  }
}

/// An address at which a device may be dialled, as a third device states it.
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
