import PiconetEngine
import PiconetWire

/// A peer that tried the code of this node and was wrong, broke off, or was too late (`Node.setCode`).
public struct FailedCode: Sendable {
  /// The fingerprint that TLS has proven, and the incarnation.
  public let id: NodeID
  /// What people call the device; the peer's own words: escape it before showing it on a terminal.
  public let name: String
  /// The transport that the peer used.
  public let transport: TransportKind
  /// The peer's address, as the transport writes it.
  public let remoteAddress: String
  /// Why.
  public let error: PiconetError
  /// The number of tries that the current code has left, over all peers. At 0 no peer can use it any more, and no
  /// unknown peer gets in before `Node.setCode` sets another one.
  public let triesLeft: Int

  init(_ peer: ProvenPeer, left: Int, _ ending: Ending) {
    id = peer.node
    name = peer.name
    transport = peer.traits.kind
    remoteAddress = peer.traits.remoteAddress
    error = PiconetError(ending, peer: peer.node)
    triesLeft = left
  }

  /// The SHA-256 of the peer's public key.
  public var fingerprint: PeerID { id.peer }
}
