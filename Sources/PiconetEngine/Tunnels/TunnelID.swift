import PiconetWire

/// A tunnel that ends here, within this node. Those that we open are numbered by the engine's driver, below
/// `firstIncoming`; those that a relay brings, by the engine. The number on the wire is a different one, which means
/// something only together with the relay.
public struct TunnelID: Hashable, Comparable, Sendable {
  /// The number.
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  /// The first number that the engine gives.
  public static let firstIncoming: UInt64 = 1 << 63
  /// Whether a relay has opened it to us.
  public var isIncoming: Bool { rawValue >= Self.firstIncoming }
  public static func < (left: TunnelID, right: TunnelID) -> Bool { left.rawValue < right.rawValue }
}

/// Where a tunnel leads, and over which members.
public struct TunnelRoute: Hashable, Sendable {
  /// The other end, as the relay says: TLS inside the tunnel proves who it is.
  public var remote: NodeID
  /// The members that pass its bytes on, as far as we know them: first the relay that we share the tunnel with, then
  /// those over which that relay is reached.
  public var relays: [NodeID]
  /// How many relays there are between the two ends, as the first of them says: 1 to `WireLimits.relays`.
  public var relayCount: Int

  public init(remote: NodeID, relays: [NodeID], relayCount: Int) {
    self.remote = remote
    self.relays = relays
    self.relayCount = relayCount
  }

  /// What a link over it is like, before anything is known of who is at its end.
  public var traits: LinkTraits {
    let address = relays.first.map { TransportAddress(to: remote, over: $0).text } ?? ""
    var traits = LinkTraits(
      kind: .relay, remoteAddress: address, largestWrite: Tunnel.writeLimit, transmitWindow: Tunnel.transmitWindow)
    traits.relays = relays
    traits.relayCount = relayCount
    return traits
  }
}

extension TransportAddress {
  /// The address of a node over a member of ours that relays.
  public init(to remote: NodeID, over relay: NodeID) {
    self.init(kind: .relay, text: "\(relay.text)/\(remote.text)")
  }

  /// The relay and the node that it leads to; nil for anything else.
  public var relayed: (relay: NodeID, remote: NodeID)? {
    guard kind == .relay else { return nil }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 4, let relay = NodeID(text: parts[...1].joined(separator: "/")),
      let remote = NodeID(text: parts[2...].joined(separator: "/"))
    else { return nil }
    return (relay, remote)
  }
}
