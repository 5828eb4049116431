import PiconetEngine
import PiconetWire

/// A node without an engine: it sends whatever frames it likes over its links.
final class HostileNode {
  /// What it does once it is let in, or before.
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
    case introductionChurn, tunnelChurn, askFlood, codeInvitationChurn, pauseFlood, deafPings

    /// Attacks on typed codes.
    static let onTypedCodes: [Attack] = [
      .guessesCode, .abortsCode, .leavesCode, .reflectsCode, .replaysShare, .unfitShare, .confirmsUnasked,
    ]

    /// Attacks with what only members may say.
    static let ofMembers: [Attack] = [
      .removalFlood, .introductionChurn, .tunnelChurn, .askFlood, .pauseFlood,
    ]
  }

  /// One of its connections.
  struct Session {
    let connection: Int
    let side: Int
    var attack: Attack
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
    let nonce: [UInt8]
    /// The remote side, once its hello came.
    var remote: NodeID?
    var isAssociated = false
    var isMember = false
    var rounds = 0
    var isOver = false
    /// The association that this link has, or that it should resume.
    var association: AssociationID?
    var isResuming = false
    /// The remote side's offers, and how far it accepts ours.
    var offers: [(number: UInt64, size: UInt64)] = []
    /// Streams of the remote side.
    var streams: [UInt64] = []
    var accepted: [(number: UInt64, limit: UInt64)] = []
  }

  let index: Int
  let node: NodeID
  var dice: Dice
  var sessions: [Session] = []
  /// The session that our next connection resumes.
  var resuming: Session?

  init(index: Int, node: NodeID, dice: Dice) {
    self.index = index
    self.node = node
    self.dice = dice
  }
}
