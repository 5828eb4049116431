import PiconetWire

/// The behaviour of one node's application. Chances are out of a hundred; times are virtual nanoseconds.
struct Persona: Sendable {
  struct PlannedInvitation: Sendable {
    var at: UInt64
    var target: Int
    var byAddress: Bool
    var timeout: UInt64
  }

  struct PlannedExpectation: Sendable {
    var at: UInt64
    var target: Int
    var length: UInt64
  }

  enum Consumption: Sendable {
    case atOnce
    case delayed(UInt64)
    /// Nothing is consumed before the end of the active time.
    case late
  }

  struct PlannedIntroduction: Sendable {
    var at: UInt64
    /// The two nodes to introduce, if both are members at that time.
    var first: Int
    var second: Int
    var timeout: UInt64
  }

  var invitations: [PlannedInvitation] = []
  var introductions: [PlannedIntroduction] = []
  /// The chance that it accepts a node that a member introduces.
  var acceptIntroductionChance = 80
  /// The chance that it declines a node that it does not accept; the rest are ignored.
  var declineIntroductionChance = 50
  var cancelIntroductionChance = 0
  /// Whether it hides: it listens only for nodes that it expects, and for members.
  var hides = false
  var expectations: [PlannedExpectation] = []
  /// The chance that an expectation is withdrawn.
  var stopExpectingChance = 0
  var acceptChance = 100
  /// The chance that it declines an invitation that it does not accept; the rest are ignored.
  var declineChance = 50
  var answerDelay: UInt64 = 1_000_000
  var confirmChance = 100
  /// The chances that a person has to confirm a peer, and that the trust policy refuses it.
  var askChance = 0
  var refuseChance = 0
  var cancelInvitationChance = 0
  /// Whether it sets a code by which it can be invited, and the chance that it types a code for a node that it invites.
  var setsCode = false
  var typesCodeChance = 0
  /// Whether it keeps a code that is used up instead of setting another one.
  var keepsOverCode = false
  var leaveChance = 0
  /// The chance that a member is removed from the group.
  var removeChance = 0
  var inviteAgainChance = 0
  /// The time at which it has a node removed from the group, and that node.
  var removal: (at: UInt64, target: Int)?
  /// When it leaves all members, to come back a little later.
  var departure: UInt64?

  var bursts = 0...2
  var burstLength = 1...8
  /// Virtual milliseconds over which bursts and offers are spread.
  var spread = 500
  var unreliableChance = 20
  var consumption = Consumption.atOnce
  /// A channel in which no message is taken before the end of the active time, whatever happens in the others.
  var unreadChannel: MessageChannel?

  var offers = 0...0
  var largestFile = 64 << 10
  /// Whether small files are more likely. If not, all sizes are equally likely.
  var prefersSmallFiles = true
  var acceptOfferChance = 100
  /// The chance that it declines an offer that it does not accept; the rest are ignored.
  var declineOfferChance = 70
  /// The chance that an accepted offer resumes after a prefix that exists already.
  var resumeChance = 20
  var cancelTransferChance = 0
  /// The chance that a transfer is paused for a while, in either direction.
  var pauseChance = 0

  var streams = 0...0
  var largestStream = 100_000
  /// The chance that the writer of a stream cancels it, and that its reader does.
  var cancelStreamChance = 0
}

/// The behaviour of one node's disk.
struct DiskConditions: Sendable {
  /// The maximum time of a read.
  var readDelay: UInt64 = 0
  /// The maximum time of storing, and of committing.
  var writeDelay: UInt64 = 0
  /// The number of bytes that all stores of the node hold together.
  var capacity = Int.max
  /// The chance that a commit fails, for a reason of the file system.
  var commitFailChance = 0
  /// The chance that a source grows, shrinks or can't be read.
  var sourceTroubleChance = 0
}

/// The behaviour of discovery.
struct DiscoveryConditions: Sendable {
  var sources = 1
  /// The maximum time from a start to its sightings.
  var delay: UInt64 = 5_000_000
  /// The chance that a sighting is reported again.
  var repeatChance = 20
  /// The chance that a source loses a peer and finds it again.
  var flapChance = 0
  /// The chance that a sighting carries another node's address or a stale incarnation.
  var wrongHintChance = 0
  /// The maximum time from a crash to its goodbye or expiry.
  var lossDelay: UInt64 = 500_000_000
}
