import PiconetEngine

/// How a member is reached at a moment.
public struct MemberRoute: Sendable, Hashable {
  /// What the first link of the way goes over: `relay` where other members pass everything on.
  public let transport: TransportKind
  /// The members that pass it on, as far as this node knows them: the nearest first, which is a member of this session;
  /// empty for a direct link. They see how much goes when between which two nodes, and can't read, change or repeat any
  /// of it.
  public let relays: [NodeID]
  /// How many there are in all, by the word of the nearest: 0 for a direct link, at most 3.
  public let relayCount: Int

  /// Directly: no relay is in between.
  public var isDirect: Bool { relayCount == 0 }

  init(_ traits: LinkTraits) {
    transport = traits.kind
    relays = traits.relays
    relayCount = traits.relayCount
  }
}
