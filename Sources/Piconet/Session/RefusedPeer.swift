import PiconetEngine
import PiconetWire

/// A peer that came to us and that the trust policy has turned away. TLS has proven its key.
public struct RefusedPeer: Sendable {
  /// The fingerprint that TLS has proven, and the incarnation.
  public let id: NodeID
  /// What people call the device; the peer's own words: escape it before showing it on a terminal.
  public let name: String
  /// What it came over.
  public let transport: TransportKind
  /// Where it came from, as the transport writes it.
  public let remoteAddress: String
  /// Why, with what a person can do about it; it may name a file of this machine. The peer was told less.
  public let error: PiconetError
  /// How many others have been turned away since the last one that was reported.
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
