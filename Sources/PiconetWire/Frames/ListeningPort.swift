/// The port on which a node listens over one transport, at whatever address its links come from.
public struct ListeningPort: Hashable, Sendable {
  /// The transport's number in the document; others may be added.
  public let transport: UInt8
  /// TCP's port, L2CAP's PSM or RFCOMM's channel; not 0.
  public let port: UInt16

  public init(transport: UInt8, port: UInt16) {
    self.transport = transport
    self.port = port
  }
}
