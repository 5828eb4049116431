import PiconetEngine
import PiconetWire

/// A node without an engine. It sends any frames over its links.
final class HostileNode {
  /// An attack, before or after it is let in.
  enum Attack: CaseIterable {
    case silence, garbage, wrongOrder, helloTwice, halfFrame, hugeFrame
    case wrongReveal, noReveal, revealTwice, nonceAtOnce, nonceTwice, crossing, confirmsAlone, codeChurn
    case guessesCode, abortsCode, leavesCode, reflectsCode, replaysShare, unfitShare, confirmsUnasked
    case monkey, foreignTransfers, beyondCredit, wrongSize, wrongDigest
    case channelFragments, channelAboveLimit, channelsBeyondCredit, channelNotOpen
    case fragmentFlood, messageAboveLimit, messagesBeyondCredit, optionalFlood, pingFlood
    case offerFlood, sameNumber, hugeOffer, creditOverflow, foreignAssociation, associateTwice
    case inviteTwice, leaveAndTalk, acknowledgeTooMuch, unknownRequired, reservedRange
    case beforeHello, beforeAssociate, beforeMember, closeAndTalk
    case stolenAssociation, resumeAhead, resumeBehind, resumeTwice
    case streamFlood, streamsBeyondCredit, streamsOutOfOrder, foreignStreams, streamCreditOverflow, streamChurn
    case invitationChurn, offerChurn, removalFlood, deafResume
    case introductionChurn, tunnelChurn, askFlood, groupLies, groupViewFlood, codeInvitationChurn, pauseFlood, deafPings
    case oversizedOffers, halfFiles
    case callFrames

    /// Attacks on typed codes.
    static let onTypedCodes: [Attack] = [
      .guessesCode, .abortsCode, .leavesCode, .reflectsCode, .replaysShare, .unfitShare, .confirmsUnasked,
    ]

    /// Attacks with frames that only members may send.
    static let ofMembers: [Attack] = [
      .removalFlood, .introductionChurn, .tunnelChurn, .askFlood, .pauseFlood, .groupLies, .groupViewFlood,
    ]

    /// Attacks on transfers that others have begun to send.
    static let ofOffers: [Attack] = [.oversizedOffers, .halfFiles]

    /// All attacks that are drawn from the node's dice. Those on offers have dice of their own, and the attack on calls
    /// needs nodes that make calls.
    static let drawn: [Attack] = allCases.filter { !ofOffers.contains($0) && $0 != .callFrames }
  }

  /// One of its connections.
  struct Session {
    let connection: Int
    let side: Int
    var attack: Attack
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
    let nonce: [UInt8]
    /// The remote side, once its hello has come.
    var remote: NodeID?
    var isAssociated = false
    var isMember = false
    var rounds = 0
    var isOver = false
    /// The association that this link has, or that it is to resume.
    var association: AssociationID?
    var isResuming = false
    /// The remote side's offers, and how far it accepts ours.
    var offers: [(number: UInt64, size: UInt64)] = []
    /// Streams of the remote side.
    var streams: [UInt64] = []
    var accepted: [(number: UInt64, limit: UInt64)] = []
    /// The key that it has only in this session.
    var key: PeerID?
    var hasOffered = false
  }

  let index: Int
  let node: NodeID
  var dice: Dice
  /// Dice for attacks on offers. A new draw there shifts none of the other draws.
  var offerDice: Dice
  var sessions: [Session] = []
  /// The session that our next connection resumes.
  var resuming: Session?

  init(index: Int, node: NodeID, dice: Dice) {
    self.index = index
    self.node = node
    self.dice = dice
    offerDice = Dice(seed: node.incarnation.rawValue ^ 0x6F66_6665_7273)
  }

  /// Returns its identity in a session.
  func name(in session: Session) -> NodeID {
    session.key.map { NodeID(peer: $0, incarnation: node.incarnation) } ?? node
  }
}
