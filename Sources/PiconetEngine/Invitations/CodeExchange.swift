import PiconetWire

/// One exchange of nonces for a short code, drawn anew for each.
public struct CodeID: RawRepresentable, Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static func < (left: CodeID, right: CodeID) -> Bool { left.rawValue < right.rawValue }
}

/// A nonce for one short code, with the commitment to it.
public struct CodeNonce: Hashable, Sendable {
  /// 32 random bytes.
  public var bytes: [UInt8]
  /// Binds to them without showing them.
  public var commitment: [UInt8]

  public init(bytes: [UInt8], commitment: [UInt8]) {
    self.bytes = bytes
    self.commitment = commitment
  }
}

/// What a short code follows from, beside the channel of its link.
public struct CodeInputs: Hashable, Sendable {
  public var inviter: PeerID
  public var invited: PeerID
  public var inviterNonce: [UInt8]
  public var invitedNonce: [UInt8]
  /// To the inviter's nonce, as its invitation stated it.
  public var commitment: [UInt8]

  public init(
    inviter: PeerID, invited: PeerID, inviterNonce: [UInt8], invitedNonce: [UInt8], commitment: [UInt8]
  ) {
    self.inviter = inviter
    self.invited = invited
    self.inviterNonce = inviterNonce
    self.invitedNonce = invitedNonce
    self.commitment = commitment
  }
}

/// How far a short code has come between two sides, on the one of them. It never outlives the link on which a nonce was
/// given.
struct CodeExchange: Sendable {
  enum Phase: Equatable, Sendable {
    /// Invited side: the driver draws our nonce.
    case drawing
    /// Invited side: the inviter has our nonce, and owes its own until then.
    case awaitingReveal(until: Instant)
    /// The driver derives the code.
    case deriving
    /// The code is on our screen.
    case shown(String)
  }

  let id: CodeID
  let isInviter: Bool
  var phase: Phase
  /// Our nonce, and the peer's.
  var nonce: [UInt8] = []
  /// Invited side: who waits for the code.
  var showing: [CommandID] = []
  /// A person of ours has to compare it, because of our own policy.
  var isCompared = false
  /// That person has seen the same code on both screens.
  var isConfirmed = false
  /// Inviter: the accept came.
  var isRemoteDone = false

  /// A nonce of ours has been given that the peer can make a code of: from here on this counts as a wrong code
  /// unless it ends in membership.
  var isTry: Bool { phase != .drawing }

  /// When the inviter's nonce is overdue.
  var revealEnds: Instant? { if case .awaitingReveal(let until) = phase { until } else { nil } }

  var code: String? { if case .shown(let code) = phase { code } else { nil } }

  /// How long the inviter may take to reveal its nonce.
  static let revealTime = Duration.seconds(2)
}
