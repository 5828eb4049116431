import PiconetWire

/// The settings of an engine. Wrong values are refused by `validate` before an engine is made of them.
public struct EngineConfiguration: Sendable, Hashable {
  /// The session id: only nodes of the same scope become peers. 1 to `WireLimits.scope` bytes.
  public var scope: String
  /// What people call this device. 1 to 63 bytes of UTF-8.
  public var name: String
  /// What our application says to whoever we connect to, before anybody is asked; at most `WireLimits.greeting` bytes.
  /// Default: nothing.
  public var greeting: [UInt8] = []
  /// Members of the session, oneself included. Default 8, as Multipeer Connectivity; 2 to 1024.
  public var capacity = 8
  /// The longest message in bytes, sent or received. Default 95 KiB, as GKSession.
  public var messageLimit = 95 * 1024
  /// Bytes of reliable messages that a peer may send ahead of the application; also the budget of our own queue to
  /// a peer. Memory a peer costs at most about three times this. Default 1 MiB.
  public var messageWindow = 1 << 20
  /// The longest body of one frame in bytes. Default 16,381: a whole frame is then one full TLS record.
  public var frameLimit = 16_381
  /// Transfers that one peer may have open towards us at once. Default 64.
  public var transferLimit = 64
  /// Bytes of one incoming transfer that may be under way beyond what is stored. Default 2 MiB.
  public var transferWindow = 2 << 20
  /// Bytes of all incoming transfers that may be under way beyond what is stored: with many transfers each gets its
  /// share, at least `smallestTransferWindow`. Default 16 MiB.
  public var transferMemory = 16 << 20
  /// Default 64 KiB.
  public var smallestTransferWindow = 64 << 10
  /// Bytes that one disk read of an outgoing transfer asks for. Default 256 KiB; two may be under way.
  public var readSize = 256 << 10
  /// Streams that one peer may have open towards us at once. Default 64.
  public var streamLimit = 64
  /// Bytes of one stream that its sender may send ahead of the application. Default 1 MiB.
  public var streamWindow = 1 << 20
  /// Bytes that may come of a stream that nobody reads. Default 64 KiB.
  public var firstStreamWindow = 64 << 10
  /// Bytes of all streams of one peer that may wait for the application: with many streams each gets its share, at
  /// least `firstStreamWindow`. Default 4 MiB.
  public var streamMemory = 4 << 20
  /// Bytes handed to a link and not yet with the kernel, at most. Default 256 KiB.
  public var transmitWindow = 256 << 10
  /// How long an association outlives its links, from when the peer was last heard: silence and the search for another
  /// way together. 0: it ends with its link. Default 20 s, as GKSession.
  public var disconnectTimeout: Duration = .seconds(20)
  /// From an open link to its association. Default 10 s.
  public var handshakeTimeout: Duration = .seconds(10)
  /// An association without members or invitation ends after this, and earlier when its place is needed. Default 90 s:
  /// a person on the other side may compare short codes meanwhile.
  public var idleTimeout: Duration = .seconds(90)
  /// How long what was sent before a `leave` may take to go, and the remote side to confirm. Default 5 s.
  public var leaveTimeout: Duration = .seconds(5)
  /// Links that have no association yet, at most. The oldest goes first. Default 128.
  public var handshakeLimit = 128
  /// Associations at most, members or not. Default 256.
  public var associationLimit = 256
  /// After how long a member that has nothing open but what it is to send, and of which nothing moves, gives way to
  /// somebody else who wants in where the session is full. With it strangers of an address that has a quarter of the
  /// places give way as well. Default 0: no member ever does.
  public var idleMemberTimeout: Duration = .zero
  /// Invitations of peers that are not known yet, of which the application is told at once; others wait until it has
  /// answered. Default 8; 1 to 1024.
  public var openInvitations = 8
  /// Whether a member may remove another one from the whole group. Default: any may, as with GKSession.
  public var allowsRemoval = true
  /// Whether unreliable messages are delivered even behind newer ones. Default: no.
  public var deliversLateMessages = false
  /// Peers in the discovery table at most. Default 1024.
  public var sightingLimit = 1024
  /// Transports in order of preference.
  public var transports: [TransportKind] = [.tcp, .l2cap, .rfcomm, .le]
  /// The head start of a transport over the next one. Default 800 ms.
  public var transportHeadStart: Duration = .milliseconds(800)
  /// Whether an association moves by itself to a transport that is better in the order of `transports`, when one leads
  /// to the peer. Default true.
  public var movesBetweenTransports = true

  /// No window is larger: sums of them stay far from what an `Int` holds. 1 GiB.
  public static let largestWindow = 1 << 30

  /// The silence after which a link is taken for dead: half of the disconnect timeout, so that the other half is left
  /// for the search for another way; all of it where the remote side does not resume. 10 s where an association ends
  /// with its link.
  func silence(isDurable: Bool) -> Duration { Self.silence(isDurable: isDurable, within: disconnectTimeout) }

  static func silence(isDurable: Bool, within disconnectTimeout: Duration) -> Duration {
    if disconnectTimeout == .zero { return .seconds(10) }
    return isDurable ? disconnectTimeout / 2 : disconnectTimeout
  }

  /// Bytes sent to one peer and not acknowledged, kept for another link: beyond this nothing goes of our own accord, no
  /// message, stream, offer or hint; answers do. Room for the message window and as much again, and always for what a
  /// remote side may leave without an acknowledgement, and for what is written at once, which is kept until the last of
  /// it is acknowledged.
  public var unacknowledgedLimit: Int {
    max(2 * messageWindow, 64 * (WireLimits.controlFrame + Unacknowledged.batchCost) + (64 << 10) + 2 * frameLimit)
      + transmitWindow
  }

  /// Every other setting has its default.
  public init(scope: String, name: String) {
    self.scope = scope
    self.name = name
  }

  /// Whether an engine takes this disconnect timeout: half of it is the silence that our hello states, which has a
  /// least value.
  public static func isDisconnectTimeout(_ timeout: Duration) -> Bool {
    timeout == .zero || (timeout >= .seconds(2) && timeout <= .seconds(86_400))
  }

  /// What `isDisconnectTimeout` holds a timeout to, for people.
  static let disconnectTimeoutRule = "the disconnect timeout is 0, or 2 s to 24 hours"

  /// What no discovery source tells of as it is.
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  /// What a device may be called.
  static func check(name: String) throws(InvalidConfiguration) {
    guard (1...63).contains(name.utf8.count) else { throw InvalidConfiguration(rule: "a name has 1 to 63 bytes") }
    if name.unicodeScalars.contains(where: isControl) {
      throw InvalidConfiguration(rule: "a name has no control characters")
    }
  }

  /// Names the first setting that is out of its limits.
  public func validate() throws(InvalidConfiguration) {
    func check(_ holds: Bool, _ rule: String) throws(InvalidConfiguration) {
      if !holds { throw InvalidConfiguration(rule: rule) }
    }
    try check((1...WireLimits.scope).contains(scope.utf8.count), "a session id has 1 to \(WireLimits.scope) bytes")
    try check(!scope.unicodeScalars.contains(where: Self.isControl), "a session id has no control characters")
    try check(greeting.count <= WireLimits.greeting, "a greeting has at most \(WireLimits.greeting) bytes")
    try Self.check(name: name)
    try check((2...1024).contains(capacity), "a session has room for 2 to 1024 members")
    try check((1...(64 << 20)).contains(messageLimit), "the message limit is 1 byte to 64 MiB")
    try check(
      messageWindow >= messageLimit + WireLimits.messageCost,
      "the message window holds a message of \(messageLimit) bytes")
    try check(messageWindow <= Self.largestWindow, "the message window is at most 1 GiB")
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
    try check(
      !transports.isEmpty && Set(transports).count == transports.count, "the transports are one or more, each once")
  }
}

/// A setting that is out of its limits.
public struct InvalidConfiguration: Error, Sendable, Hashable, CustomStringConvertible {
  /// The rule that was broken, as a sentence.
  public let rule: String

  public init(rule: String) { self.rule = rule }

  public var description: String { rule }
}

/// Who we are.
public struct LocalIdentity: Sendable, Hashable {
  /// Our key and our incarnation.
  public var node: NodeID

  public init(node: NodeID) { self.node = node }
}
