import PiconetWire

/// Which nodes become members of a session.
@nonexhaustive
public enum SessionMembership: String, Sendable, Hashable, CaseIterable {
  /// Each node has its own members: members of a member are not our members.
  case pairs
  /// A node that joins one member joins all nodes with this setting: members introduce one another.
  case group
}

/// The settings of an engine. `validate` refuses wrong values before an engine is made of them.
public struct EngineConfiguration: Sendable, Hashable {
  /// The session id, in 1 to `WireLimits.sessionID` bytes. Only nodes with the same session id become peers.
  public var sessionID: String
  /// The name of this device that people see: 1 to 63 bytes of UTF-8, without control characters.
  public var name: String
  /// Bytes that our application sends to every peer we connect to, before any prompt; at most `WireLimits.greeting`
  /// bytes. Default: nothing.
  public var greeting: [UInt8] = []
  /// Members of the session, including this node. Default 8, as in Multipeer Connectivity; 2 to 1024.
  public var capacity = 8
  /// The longest message in bytes, sent or received. Default 95 KiB, as in GKSession.
  public var messageLimit = 95 * 1024
  /// Bytes of reliable messages that a peer may send ahead of the application. It is also the budget of our own queue
  /// to a peer. See `memberMemory` for how much a member can make an engine hold in all. Default 1 MiB.
  public var messageWindow = 1 << 20
  /// The number of channels in which a peer may send messages, including channel 0. Default 64; 1 to 64.
  public var channelLimit = MessageChannel.count
  /// Bytes of messages that a peer may send ahead of the application in each channel but channel 0. One incomplete
  /// message comes on top. Default 128 KiB.
  public var channelWindow = 128 << 10
  /// The order in which channels with waiting messages take their turns.
  public var channelPriorities: ChannelPriorities = [:]
  /// The longest body of one frame in bytes. Default 16,381: a whole frame is then one full TLS record.
  public var frameLimit = 16_381
  /// Transfers that one peer may have open towards us at once. Default 64.
  public var transferLimit = 64
  /// Bytes of one incoming transfer that may be under way beyond what is stored. Default 2 MiB.
  public var transferWindow = 2 << 20
  /// Bytes of all incoming transfers that may be under way beyond what is stored. With many transfers each gets a
  /// share, of at least `smallestTransferWindow`. Default 16 MiB.
  public var transferMemory = 16 << 20
  /// The smallest share of one transfer in `transferMemory`, in bytes. Default 64 KiB.
  public var smallestTransferWindow = 64 << 10
  /// Bytes that one disk read of an outgoing transfer asks for. Default 256 KiB; two may be under way.
  public var readSize = 256 << 10
  /// Streams that one peer may have open towards us at once. Default 64.
  public var streamLimit = 64
  /// Bytes of one stream that its sender may send ahead of the application. Default 1 MiB.
  public var streamWindow = 1 << 20
  /// Bytes of a stream that may come before it is read. Default 64 KiB.
  public var firstStreamWindow = 64 << 10
  /// Bytes of all streams of one peer that may wait for the application. With many streams each gets a share, of at
  /// least `firstStreamWindow`. Default 4 MiB.
  public var streamMemory = 4 << 20
  /// The maximum number of bytes handed to a link and not yet to the kernel. Default 256 KiB.
  public var transmitWindow = 256 << 10
  /// How long an association outlives its links, counted from when the peer was last heard. It covers both the silence
  /// and the search for another link. 0: it ends with its link. Default 20 s, as in GKSession.
  public var disconnectTimeout: Duration = .seconds(20)
  /// The time from an open link to its association. Default 10 s.
  public var handshakeTimeout: Duration = .seconds(10)
  /// How long an association may last without membership and without an open invitation. It ends earlier if its place
  /// is needed. Default 90 s: a person on the other side may be comparing short codes.
  public var idleTimeout: Duration = .seconds(90)
  /// How long we wait until everything sent before a `leave` has gone and the remote side has confirmed. Default 5 s.
  public var leaveTimeout: Duration = .seconds(5)
  /// The maximum number of links opened by peers and without an active association. Beyond it, the oldest link from the
  /// address with the most links is closed. Default 128.
  public var handshakeLimit = 128
  /// The maximum number of associations, with members or not. Default 256.
  public var associationLimit = 256
  /// How long a member must be idle before it gives way to a node that wants to join a full session. Idle means that
  /// nothing is open except what the member still has to send, and nothing moves. If set, strangers from an address
  /// that holds a quarter of the places give way as well. Members of a group never give way, and no member gives way
  /// for a place of the group. Default 0: no member ever does.
  public var idleMemberTimeout: Duration = .zero
  /// How many invitations from unknown peers are reported to the application at a time. Others wait until the
  /// application has answered. Default 8; 1 to 1024.
  public var openInvitations = 8
  /// Whether members of members become our members. Default: `pairs`.
  public var membership = SessionMembership.pairs
  /// Whether an invitation by a node that a member has introduced waits until the application has answered the
  /// introduction. If not, it prompts like any other invitation, unless the introduction was accepted before. Default:
  /// it waits.
  public var holdsIntroducedInvitations = true
  /// Whether codes may be compared with members, at their wish or ours. Default: no, and our hello does not offer it.
  public var comparesCodes = false
  /// Whether we relay bytes between members that can't reach each other, and how many. We see only ciphertext. Default:
  /// nil, no relaying.
  public var relaying: RelayQuotas?
  /// Which members' requests to remove a member count. Default: those of the member that introduced it to us.
  public var removals = RemovalPolicy.introducers
  /// Whether unreliable messages are delivered even after newer ones. Default: no.
  public var deliversLateMessages = false
  /// The maximum number of peers in the discovery table. Default 1024.
  public var sightingLimit = 1024
  /// Transports in order of preference. `relay`, if included, must be the last. Members may then also be reached over
  /// other members that relay, and may reach us that way.
  public var transports = TransportKind.defaultOrder
  /// The head start of a transport over the next one. Default 800 ms.
  public var transportHeadStart: Duration = .milliseconds(800)
  /// Whether an association moves on its own to a transport that comes earlier in `transports`, when that transport
  /// leads to the peer. Default true.
  public var movesBetweenTransports = true
  /// Whether nothing translates addresses between this node and its peers. In that case a host that refuses where its
  /// node has said that it listens proves that the node has ended. If not, only a host that we have dialled, or see
  /// advertised, proves it.
  public var refusalEndsMembers = false
  /// Whether members that this node has links with over loopback are told loopback addresses of one another, and
  /// whether such addresses are dialled on their word.
  public var introducesOverLoopback = false

  /// The limit on every window: 1 GiB. Sums of windows then stay far below what an `Int` holds.
  public static let largestWindow = 1 << 30

  /// Returns the silence after which a link counts as dead: half of the disconnect timeout, so that the other half is
  /// left for the search for another link. It is all of the timeout if the remote side does not resume, and 10 s if an
  /// association ends with its link.
  func silence(isDurable: Bool) -> Duration { Self.silence(isDurable: isDurable, within: disconnectTimeout) }

  static func silence(isDurable: Bool, within disconnectTimeout: Duration) -> Duration {
    if disconnectTimeout == .zero { return .seconds(10) }
    return isDurable ? disconnectTimeout / 2 : disconnectTimeout
  }

  /// Bytes sent to one peer and not acknowledged, kept for another link. Beyond this limit we send only answers, and
  /// nothing of our own accord: no message, stream, offer or hint. The limit has room for twice the message window. It
  /// always has room for what a remote side may leave unacknowledged. It also has room for what is written at once,
  /// which is kept until all of it is acknowledged.
  public var unacknowledgedLimit: Int {
    max(2 * messageWindow, 64 * (WireLimits.controlFrame + Unacknowledged.batchCost) + (64 << 10) + 2 * frameLimit)
      + transmitWindow
  }

  /// Makes a configuration in which every other setting has its default.
  public init(sessionID: String, name: String) {
    self.sessionID = sessionID
    self.name = name
  }

  /// Returns whether an engine accepts this disconnect timeout. Half of it is the silence that our hello states, which
  /// has a minimum.
  public static func isDisconnectTimeout(_ timeout: Duration) -> Bool {
    timeout == .zero || (timeout >= .seconds(2) && timeout <= .seconds(86_400))
  }

  /// The rule that `isDisconnectTimeout` checks, as a human-readable message.
  static let disconnectTimeoutRule = "the disconnect timeout is 0, or 2 s to 24 hours"

  /// Returns whether a character can't be shown as it is by any discovery source.
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  /// Checks the name of a device.
  static func check(name: String) throws(InvalidConfiguration) {
    guard (1...63).contains(name.utf8.count) else { throw InvalidConfiguration(rule: "a name has 1 to 63 bytes") }
    if name.unicodeScalars.contains(where: isControl) {
      throw InvalidConfiguration(rule: "a name has no control characters")
    }
  }

  /// Checks every setting.
  /// - Throws: the rule of the first setting that is outside its limits.
  public func validate() throws(InvalidConfiguration) {
    func check(_ holds: Bool, _ rule: String) throws(InvalidConfiguration) {
      if !holds { throw InvalidConfiguration(rule: rule) }
    }
    try check(
      (1...WireLimits.sessionID).contains(sessionID.utf8.count), "a session id has 1 to \(WireLimits.sessionID) bytes")
    try check(!sessionID.unicodeScalars.contains(where: Self.isControl), "a session id has no control characters")
    try check(greeting.count <= WireLimits.greeting, "a greeting has at most \(WireLimits.greeting) bytes")
    try Self.check(name: name)
    try check((2...1024).contains(capacity), "a session has room for 2 to 1024 members")
    try check((1...(64 << 20)).contains(messageLimit), "the message limit is 1 byte to 64 MiB")
    try check(
      messageWindow >= messageLimit + WireLimits.messageCost,
      "the message window holds a message of \(messageLimit) bytes")
    try check(messageWindow <= Self.largestWindow, "the message window is at most 1 GiB")
    try check(
      (1...MessageChannel.count).contains(channelLimit), "there are 1 to \(MessageChannel.count) channels for messages")
    try check(
      (WireLimits.channelWindow...Self.largestWindow).contains(channelWindow),
      "the window of a channel is \(WireLimits.channelWindow) bytes to 1 GiB")
    try check(
      (WireLimits.smallestFrame...WireLimits.largestFrame).contains(frameLimit),
      "the frame limit is \(WireLimits.smallestFrame) to \(WireLimits.largestFrame) bytes")
    try check((1...16_384).contains(transferLimit), "a peer may have 1 to 16384 transfers open")
    try check(transferWindow >= 2 * frameLimit, "the transfer window holds at least two frames")
    try check(transferWindow <= Self.largestWindow, "the transfer window is at most 1 GiB")
    try check(smallestTransferWindow > 0, "the smallest transfer window is above zero")
    try check(readSize >= frameLimit, "one read fills at least a frame")
    try check(readSize <= Self.largestWindow, "one read is at most 1 GiB")
    try check((1...16_384).contains(streamLimit), "a peer may have 1 to 16384 streams open")
    try check((1...Self.largestWindow).contains(firstStreamWindow), "the first window of a stream is 1 byte to 1 GiB")
    try check(
      (firstStreamWindow...Self.largestWindow).contains(streamWindow),
      "the window of a stream is at least its first window, and at most 1 GiB")
    try check((1...Self.largestWindow).contains(streamMemory), "the memory for streams is 1 byte to 1 GiB")
    try check(transmitWindow >= 2 * frameLimit, "the transmit window holds at least two frames")
    try check(transmitWindow <= Self.largestWindow, "the transmit window is at most 1 GiB")
    try check(Self.isDisconnectTimeout(disconnectTimeout), Self.disconnectTimeoutRule)
    try check(handshakeTimeout > .zero && idleTimeout > .zero && leaveTimeout > .zero, "a timeout is above zero")
    try check(idleMemberTimeout >= .zero, "the time after which idle members give way is not below zero")
    try check(handshakeLimit > 0, "at least one link may be in its handshake")
    try check(associationLimit > 0, "there is room for at least one of the associations")
    try check((1...1024).contains(openInvitations), "1 to 1024 invitations may be open at once")
    try check(sightingLimit > 0, "at least one peer may be in sight")
    try relaying?.validate()
    try check(transports.firstIndex(of: .relay).map { $0 == transports.count - 1 } ?? true, "relays come last")
    try check(
      !transports.isEmpty && Set(transports).count == transports.count, "the transports are one or more, each once")
  }
}

/// A setting outside its limits.
public struct InvalidConfiguration: Error, Sendable, Hashable, CustomStringConvertible {
  /// The rule that was broken, as a sentence.
  public let rule: String

  /// Makes an error for this broken rule.
  public init(rule: String) { self.rule = rule }

  public var description: String { rule }
}

/// The identity of the node that an engine runs for.
public struct LocalIdentity: Sendable, Hashable {
  /// Our key and our incarnation.
  public var node: NodeID

  /// Makes the identity of this node.
  public init(node: NodeID) { self.node = node }
}
