import PiconetEngine
import PiconetWire

/// A node that is no engine: it speaks frames over links as it pleases.
final class HostileNode {
  /// What it does once it is let in, or before.
  enum Attack: CaseIterable {
    case silence, garbage, wrongOrder, helloTwice, halfFrame, hugeFrame
    case wrongReveal, noReveal, revealTwice, nonceAtOnce, nonceTwice, crossing, confirmsAlone, codeChurn
    case guessesCode, abortsCode, leavesCode, reflectsCode, replaysShare, unfitShare, confirmsUnasked
    case monkey, foreignTransfers, beyondCredit, wrongSize, wrongDigest
    case fragmentFlood, messageAboveLimit, messagesBeyondCredit, optionalFlood, pingFlood
    case offerFlood, sameNumber, hugeOffer, creditOverflow, foreignAssociation, associateTwice
    case inviteTwice, leaveAndTalk, acknowledgeTooMuch, unknownRequired, reservedRange
    case beforeHello, beforeAssociate, beforeMember, closeAndTalk
    case stolenAssociation, resumeAhead, resumeBehind, resumeTwice
    case streamFlood, streamsBeyondCredit, streamsOutOfOrder, foreignStreams, streamCreditOverflow, streamChurn
    case invitationChurn, offerChurn, removalFlood, deafResume

    /// Those on codes that are typed.
    static let onTypedCodes: [Attack] = [
      .guessesCode, .abortsCode, .leavesCode, .reflectsCode, .replaysShare, .unfitShare, .confirmsUnasked,
    ]
  }

  /// One connection of its.
  struct Session {
    let connection: Int
    let side: Int
    var attack: Attack
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
    let nonce: [UInt8]
    /// The remote side, once its hello came.
    var far: NodeID?
    var isAssociated = false
    var isMember = false
    var rounds = 0
    var isOver = false
    /// The association that this link has, or that it is to go on with.
    var association: AssociationID?
    var isResuming = false
    /// Offers of the remote side, and how far it takes ours.
    var offers: [(number: UInt64, size: UInt64)] = []
    /// Streams of the remote side.
    var streams: [UInt64] = []
    var accepted: [(number: UInt64, limit: UInt64)] = []
  }

  let index: Int
  let node: NodeID
  var dice: Dice
  var sessions: [Session] = []
  /// What the next connection of ours goes on with.
  var resuming: Session?

  init(index: Int, node: NodeID, dice: Dice) {
    self.index = index
    self.node = node
    self.dice = dice
  }
}
