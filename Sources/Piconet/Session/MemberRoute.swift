import PiconetEngine

/// The way over which a member is reached at a moment.
public struct MemberRoute: Sendable, Hashable {
  /// The transport of the first link of the way: `relay` where other members relay.
  public let transport: TransportKind
  /// The members that relay, as far as this node knows them: the nearest first, which is a member of this session;
  /// empty for a direct link. They see how much goes when between which two nodes, and can't read, change or repeat any
  /// of it.
  public let relays: [NodeID]
  /// The number of relays in all, by the word of the nearest: 0 for a direct link, at most 3.
  public let relayCount: Int

  /// Whether the link is direct, without a relay.
  public var isDirect: Bool { relayCount == 0 }

  init(_ traits: LinkTraits) {
    transport = traits.kind
    relays = traits.relays
    relayCount = traits.relayCount
  }
}
