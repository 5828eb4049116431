import PiconetWire

/// The number of one exchange of nonces for a short code, or of one proof of a typed code.
public struct CodeID: RawRepresentable, Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static func < (left: CodeID, right: CodeID) -> Bool { left.rawValue < right.rawValue }
}

/// A nonce for one short code, with the commitment to it.
public struct CodeNonce: Hashable, Sendable {
  /// 32 random bytes.
  public var bytes: [UInt8]
  /// The commitment to the bytes, which does not reveal them.
  public var commitment: [UInt8]

  public init(bytes: [UInt8], commitment: [UInt8]) {
    self.bytes = bytes
    self.commitment = commitment
  }
}

/// The values from which a short code is derived, besides its link's channel.
public struct CodeInputs: Hashable, Sendable {
  public var inviter: PeerID
  public var invited: PeerID
  public var inviterNonce: [UInt8]
  public var invitedNonce: [UInt8]
  /// The commitment to the inviter's nonce, as its invitation stated it.
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

/// The state of the exchange for a short code, as one of the two sides sees it. It never outlives the link on which a
/// nonce was given.
struct CodeExchange: Sendable {
  enum Phase: Equatable, Sendable {
    /// Invited side: the driver draws our nonce.
    case drawing
    /// Invited side: the inviter has our nonce, and owes its own until this time.
    case awaitingReveal(until: Instant)
    /// The driver derives the code.
    case deriving
    /// The code is on our screen.
    case shown(String)
  }

  let id: CodeID
  let isInviter: Bool
  var phase: Phase
  /// Our nonce; empty until it is given to the peer.
  var nonce: [UInt8] = []
  /// Invited side: the commands that wait for the code.
  var showing: [Caller<ResultKind.Code>] = []
  /// Whether our own policy requires that a person on our side compares it.
  var isCompared = false
  /// Whether the code counts as the same on both screens.
  var isConfirmed = false
  /// Inviter: whether the peer's `accept` has come.
  var isRemoteDone = false

  /// Whether the peer has our nonce, from which it can make a code. From then on, the exchange counts as a wrong code
  /// unless it ends in membership.
  var isTry: Bool { phase != .drawing }

  /// When the inviter's nonce is overdue.
  var revealEnds: Instant? { if case .awaitingReveal(let until) = phase { until } else { nil } }

  var code: String? { if case .shown(let code) = phase { code } else { nil } }

  /// How long the inviter may take to reveal its nonce.
  static let revealTime = Duration.seconds(2)
}
