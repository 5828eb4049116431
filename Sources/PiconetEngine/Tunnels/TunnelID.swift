import PiconetWire

/// The number of a tunnel that ends here, within this node. The engine's driver numbers those that we open, below
/// `firstIncoming`; the engine numbers those that a relay brings. The number on the wire is a different one, and means
/// something only together with the relay.
public struct TunnelID: Hashable, Comparable, Sendable {
  /// The number.
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  /// The first number that the engine assigns.
  public static let firstIncoming: UInt64 = 1 << 63
  /// Whether a relay has opened the tunnel to us.
  public var isIncoming: Bool { rawValue >= Self.firstIncoming }
  public static func < (left: TunnelID, right: TunnelID) -> Bool { left.rawValue < right.rawValue }
}

/// The route of a tunnel: where it leads, and over which members.
public struct TunnelRoute: Hashable, Sendable {
  /// The other end, as the relay states it. TLS inside the tunnel proves its identity.
  public var remote: NodeID
  /// The members that pass its bytes on, as far as we know them. The first is the relay that we share the tunnel with;
  /// the others are those over which that relay is reached.
  public var relays: [NodeID]
  /// The number of relays between the two ends, as the first of them states it: 1 to `WireLimits.relays`.
  public var relayCount: Int

  public init(remote: NodeID, relays: [NodeID], relayCount: Int) {
    self.remote = remote
    self.relays = relays
    self.relayCount = relayCount
  }

  /// The traits of a link over it, before anything is known of the node at its end.
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
  /// Makes the address of a node over one of our members that relays.
  public init(to remote: NodeID, over relay: NodeID) {
    self.init(kind: .relay, text: "\(relay.text)/\(remote.text)")
  }

  /// The relay and the node that it leads to; nil for any other address.
  public var relayed: (relay: NodeID, remote: NodeID)? {
    guard kind == .relay else { return nil }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 4, let relay = NodeID(text: parts[...1].joined(separator: "/")),
      let remote = NodeID(text: parts[2...].joined(separator: "/"))
    else { return nil }
    return (relay, remote)
  }
}
