import PiconetWire

/// The data of a node in its service record, or in another Bluetooth advertisement: a hint, never a reason to admit it.
public struct NodeRecord: Sendable, Hashable {
  public var peer: PeerID
  public var incarnation: Incarnation
  /// What people call the device; the peer's own words. 1 to 63 bytes.
  public var name: String
  /// The session id.
  public var sessionID: String
  /// Free key=value pairs: at most 255 bytes a pair, 400 in all.
  public var info: [String: String]
  /// The adapter on which the node listens. A host with several adapters serves the record on each of them, but only
  /// the one read from this adapter leads to the node; nil: any.
  public var adapter: BluetoothAddress?
  /// The PSM of L2CAP over BR/EDR.
  public var l2capPSM: UInt16?
  /// RFCOMM's channel, 1 to 30.
  public var rfcommChannel: UInt8?
  /// The PSM of LE's connection-oriented channels.
  public var lePSM: UInt16?

  public init(
    peer: PeerID, incarnation: Incarnation, name: String, sessionID: String, info: [String: String] = [:],
    adapter: BluetoothAddress? = nil, l2capPSM: UInt16? = nil, rfcommChannel: UInt8? = nil, lePSM: UInt16? = nil
  ) {
    self.peer = peer
    self.incarnation = incarnation
    self.name = name
    self.sessionID = sessionID
    self.info = info
    self.adapter = adapter
    self.l2capPSM = l2capPSM
    self.rfcommChannel = rfcommChannel
    self.lePSM = lePSM
  }
}
