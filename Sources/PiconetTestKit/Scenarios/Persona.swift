import PiconetWire

/// How the application of one node behaves. Chances are out of a hundred; times are virtual nanoseconds.
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
    /// The two nodes to introduce, if both are members then.
    var first: Int
    var second: Int
    var timeout: UInt64
  }

  var invitations: [PlannedInvitation] = []
  var introductions: [PlannedIntroduction] = []
  /// It accepts nodes that its members introduce.
  var acceptIntroductionChance = 80
  /// Among those not accepted; the rest are ignored.
  var declineIntroductionChance = 50
  var cancelIntroductionChance = 0
  /// It hides: it listens only for nodes that it expects, and for members.
  var hides = false
  var expectations: [PlannedExpectation] = []
  /// An expectation is taken back.
  var stopExpectingChance = 0
  var acceptChance = 100
  /// Among those not accepted; the rest are ignored.
  var declineChance = 50
  var answerDelay: UInt64 = 1_000_000
  var confirmChance = 100
  /// Peers that a person has to confirm, and peers that the trust policy refuses.
  var askChance = 0
  var refuseChance = 0
  var cancelInvitationChance = 0
  /// It sets a code with which it can be invited, and types codes for the nodes that it invites.
  var setsCode = false
  var typesCodeChance = 0
  /// It doesn't set another code when one is used up.
  var keepsOverCode = false
  var leaveChance = 0
  /// A member is removed for all.
  var removeChance = 0
  var inviteAgainChance = 0
  /// When it has which node removed from the group.
  var removal: (at: UInt64, target: Int)?
  /// When it leaves everybody, to come back a little later.
  var departure: UInt64?

  var bursts = 0...2
  var burstLength = 1...8
  /// Virtual milliseconds over which bursts and offers are spread.
  var spread = 500
  var unreliableChance = 20
  var consumption = Consumption.atOnce
  /// Nothing is taken in this channel before the end of the active time, whatever becomes of the others.
  var unreadChannel: MessageChannel?

  var offers = 0...0
  var largestFile = 64 << 10
  /// Otherwise all sizes are equally likely.
  var prefersSmallFiles = true
  var acceptOfferChance = 100
  /// Among those not accepted; the rest are ignored.
  var declineOfferChance = 70
  /// An accepted offer resumes after a prefix that exists already.
  var resumeChance = 20
  var cancelTransferChance = 0
  /// A transfer is paused for a while, in either direction.
  var pauseChance = 0

  var streams = 0...0
  var largestStream = 100_000
  /// The writer of a stream cancels it, or its reader.
  var cancelStreamChance = 0
}

/// How the disk of one node behaves.
struct DiskConditions: Sendable {
  /// A read takes up to this long.
  var readDelay: UInt64 = 0
  /// Storing and committing take up to this long each.
  var writeDelay: UInt64 = 0
  /// Bytes that all stores of the node hold together.
  var capacity = Int.max
  /// A commit fails, for a reason of the file system.
  var commitFailChance = 0
  /// A source grows, shrinks or can't be read.
  var sourceTroubleChance = 0
}

/// How discovery behaves.
struct DiscoveryConditions: Sendable {
  var sources = 1
  /// Sightings come within this time after a start.
  var delay: UInt64 = 5_000_000
  /// A sighting is reported again.
  var repeatChance = 20
  /// A source loses a peer and finds it again.
  var flapChance = 0
  /// A sighting carries somebody else's address or a stale incarnation.
  var wrongHintChance = 0
  /// A goodbye or expiry follows a crash within this time.
  var lossDelay: UInt64 = 500_000_000
}
