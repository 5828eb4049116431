/// The first frame of each side on a link: the sender's versions, limits, and the association that it still holds.
public struct Hello: Equatable, Sendable {
  /// The protocol versions that the sender speaks. Both sides use the highest version in both ranges.
  public var versions: ClosedRange<UInt8>
  public var incarnation: Incarnation
  /// The device's name for people; at most `WireLimits.name` bytes of UTF-8.
  public var name: String
  /// The session id. Nodes with different session ids close the link with `Reason.wrongSession`.
  public var sessionID: String
  public var capabilities: Capabilities
  public var limits: PeerLimits
  /// The number of associations that the sender has begun with the receiver since it started. It distinguishes a hello
  /// that crossed an `associated` from a hello of a peer that has lost the association since.
  public var associationsBegun: UInt64
  /// Bytes that the sender's application says to every peer it connects to; at most `WireLimits.greeting` bytes.
  public var greeting: [UInt8]
  /// The association that the sender still holds and wants to continue over this link.
  public var held: HeldAssociation?

  public init(
    versions: ClosedRange<UInt8> = Hello.supportedVersions, incarnation: Incarnation, name: String, sessionID: String,
    capabilities: Capabilities = [], limits: PeerLimits = PeerLimits(), associationsBegun: UInt64 = 0,
    held: HeldAssociation? = nil, greeting: [UInt8] = []
  ) {
    self.versions = versions
    self.incarnation = incarnation
    self.name = name
    self.sessionID = sessionID
    self.capabilities = capabilities
    self.limits = limits
    self.associationsBegun = associationsBegun
    self.held = held
    self.greeting = greeting
  }

  public static let supportedVersions: ClosedRange<UInt8> = 1...1
}

/// Abilities of a node beyond what its version requires. Unknown bits are kept and mean nothing.
public struct Capabilities: OptionSet, Hashable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Takes part in resuming an association on another link.
  public static let resume = Capabilities(rawValue: 1 << 0)
  /// Accepts streams.
  public static let streams = Capabilities(rawValue: 1 << 1)
  /// Connects its members to one another (`openTunnel`).
  public static let relay = Capabilities(rawValue: 1 << 2)
  /// Understands `removeMember` and `removed`.
  public static let removal = Capabilities(rawValue: 1 << 3)
  /// Understands `inviteByCode` and the frames that belong to it.
  public static let typedCodes = Capabilities(rawValue: 1 << 4)
  /// Accepts introductions: `introduce` and the frames that belong to it.
  public static let introductions = Capabilities(rawValue: 1 << 5)
  /// Wants to become a member of all members of its members.
  public static let group = Capabilities(rawValue: 1 << 6)
  /// Understands `tunnelOpened`, `offerTunnel` and the frames that belong to them, so it can be reached through relays.
  public static let tunnels = Capabilities(rawValue: 1 << 7)
  /// Compares short codes with members: `askToCompare` and the frames that belong to it.
  public static let comparisons = Capabilities(rawValue: 1 << 8)
}

/// The limits that the sender of a hello states for what it receives. The smaller of the two sides' limits counts. The
/// default values are part of the format: they apply to limits that a hello leaves out.
public struct PeerLimits: Hashable, Sendable {
  /// The longest message in bytes.
  public var message: UInt64
  /// The longest body of a message frame or a chunk in bytes, at least `WireLimits.smallestFrame`. Any value above
  /// `WireLimits.largestFrame` means `WireLimits.largestFrame`.
  public var frame: UInt64
  /// The number of bytes of reliable messages that may be under way before the first `messageCredit`.
  public var messageWindow: UInt64
  /// The number of transfers that one peer may have open at once.
  public var transfers: UInt64
  /// The number of streams that one peer may have open at once. Without `Capabilities.streams` no stream may be open.
  public var streams: UInt64
  /// The number of bytes of each stream that may come before its first `streamCredit`.
  public var streamWindow: UInt64
  /// The number of channels in which one peer may send messages, including channel 0.
  public var channels: UInt64
  /// Like `messageWindow`, for each channel but channel 0, before its first `channelCredit`.
  public var channelWindow: UInt64
  /// The silence in milliseconds after which the sender considers the other side gone; within `WireLimits.silence`.
  public var silence: UInt64

  public init(
    message: UInt64 = 95 * 1024, frame: UInt64 = 16_381, messageWindow: UInt64 = 1 << 20, transfers: UInt64 = 64,
    silence: UInt64 = 20_000, streams: UInt64 = 64, streamWindow: UInt64 = 1 << 16, channels: UInt64 = 1,
    channelWindow: UInt64 = 1 << 16
  ) {
    self.message = message
    self.frame = frame
    self.messageWindow = messageWindow
    self.transfers = transfers
    self.silence = silence
    self.streams = streams
    self.streamWindow = streamWindow
    self.channels = channels
    self.channelWindow = channelWindow
  }
}

/// The name of an association: 16 random bytes that the peer with the smaller id draws.
public struct AssociationID: Hashable, Sendable, CustomStringConvertible {
  public let high: UInt64
  public let low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  public var description: String { Incarnation(rawValue: high).description + Incarnation(rawValue: low).description }
}

/// An association and how much of it has arrived.
public struct HeldAssociation: Hashable, Sendable {
  public var id: AssociationID
  /// The number of sequenced frames that its holder has received.
  public var received: UInt64

  public init(id: AssociationID, received: UInt64) {
    self.id = id
    self.received = received
  }
}
