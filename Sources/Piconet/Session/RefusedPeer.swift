import PiconetEngine
import PiconetWire

/// A peer that connected to this node and was refused by the trust policy. TLS has proven its key.
public struct RefusedPeer: Sendable {
  /// The fingerprint that TLS has proven, and the incarnation.
  public let id: NodeID
  /// What people call the device; the peer's own words: escape it before showing it on a terminal.
  public let name: String
  /// The transport that the peer used.
  public let transport: TransportKind
  /// The peer's address, as the transport writes it.
  public let remoteAddress: String
  /// Why it was refused, with what a person can do about it; it may name a file of this machine. The peer was told
  /// less.
  public let error: PiconetError
  /// The number of other peers that were refused, but not reported, since the last reported one.
  public let suppressedCount: Int

  init(_ node: NodeID, name: String, _ traits: LinkTraits, _ ending: Ending, suppressed: Int) {
    id = node
    self.name = name
    transport = traits.kind
    remoteAddress = traits.remoteAddress
    error = PiconetError(ending, peer: node)
    suppressedCount = suppressed
  }

  /// The SHA-256 of the peer's public key.
  public var fingerprint: PeerID { id.peer }
}
