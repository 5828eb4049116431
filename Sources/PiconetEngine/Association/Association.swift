import PiconetWire

/// What two nodes share while they are connected, in one engine, which alone has it (an object for the reason of
/// `Link`): sequence numbers, credit, membership, what waits to be sent.
///
/// What every message passes is not checked for exclusive access at run time, which costs 78 instructions each: one
/// engine has the object and hands over one fact at a time, and these are values whose methods can't reach it again.
final class Association {
  let id: AssociationID
  let node: NodeID
  /// The active link, or the one upon which the association is to go on; nil while there is none.
  var link: Link?
  /// What it was begun with. The disconnect timeout may be another one meanwhile: that is the engine's.
  let configuration: EngineConfiguration
  /// It is in no table any more.
  var isOver = false
  var peer: ProvenPeer
  let begunAt: Instant
  /// The far side's limits.
  let limits: PeerLimits

  /// How many associations the far side had begun with us when it confirmed this one; nil until then.
  var remoteBegun: UInt64?

  /// For whoever wants to see.
  var counts = AssociationCounts()

  // Sequence numbers: counts of sequenced frames.
  var sent: UInt64 = 0
  var acknowledged: UInt64 = 0
  var received: UInt64 = 0
  var receivedTold: UInt64 = 0
  /// What was sent and not acknowledged; nothing where the far side does not resume.
  @exclusivity(unchecked) var unacknowledged = Unacknowledged()
  /// Both sides resume: the association outlives its links.
  let isDurable: Bool
  /// What is sent again on a new link, before anything new; and what must not overtake it.
  @exclusivity(unchecked) var backlog = FirstInFirstOut<Bytes>()
  /// Control frames of now, behind the backlog.
  @exclusivity(unchecked) var behindBacklog: [UInt8] = []
  /// There is no link.
  var suspension: Suspension?
  /// Another link is looked for: because there is none, or for a better one.
  var search: LinkSearch?
  /// Where we have dialled the peer.
  var dialled: [TransportAddress] = []
  /// At least one link has been taken over: chunks may begin anywhere that a `position` says.
  var hasResumed = false
  /// Bytes of messages and of other bulky frames that came since the last acknowledgement.
  private var bytesSinceTold = 0
  /// The next flush tells what has arrived.
  private(set) var isAcknowledgementDue = false

  // Membership.
  var isMember = false
  /// Invitations of ours that have no answer yet, oldest first. Each gets exactly one.
  var unanswered: [SentInvitation] = []
  /// The far side's.
  var invitation: OpenInvitation?
  /// The short code of the one or the other.
  var exchange: CodeExchange?
  /// The far side owes an answer to our nonce, or may yet confirm the code that follows from it.
  var isRevealDue = false
  var isConfirmationDue = false
  /// The far side's proof of our typed code, and whether its confirmation may come, if only too late.
  var proof: CodeProof?
  var isCodeConfirmDue = false
  /// What the trust policy has said on the last link.
  var judgement: TrustJudgement?
  /// Since when nobody has been a member or invited.
  var idleSince: Instant
  /// When something came or went last that is of use to somebody: no heartbeat.
  var lastMoved: Instant
  @exclusivity(unchecked) var leaving: Leaving?
  /// Who wanted us removed, by what the far side says.
  var removedBy: NodeID?
  /// What the far side can do beyond its version.
  var capabilities: Capabilities = []

  // Messages.
  @exclusivity(unchecked) var outbox = Outbox()
  @exclusivity(unchecked) var inbox: Inbox
  /// A limit of message credit that the far side is to be told; the last one says all.
  @exclusivity(unchecked) var creditDue: UInt64?

  /// Numbers and counts of unreliable ones.
  var unreliable = UnreliableTraffic()
  @exclusivity(unchecked) var streams = StreamTable()

  @exclusivity(unchecked) var transfers = TransferTable()
  /// Offers wait until the link has taken the control frames before them, and the far side has acknowledged more.
  var areOffersHeldBack = false
  /// The bounds of what is kept until it is acknowledged.
  let keeping: KeepingLimits

  struct Leaving: Sendable {
    var command: CommandID?
    var reason: Reason
    /// Who wanted it, where the reason is a removal.
    var by: NodeID?
    var deadline: Instant
    /// The leave frame was sent; the far side closes the link.
    var isTold = false
  }

  init(
    id: AssociationID, node: NodeID, link: Link?, peer: ProvenPeer, limits: PeerLimits, window: Int,
    isDurable: Bool = false, _ configuration: EngineConfiguration, at now: Instant
  ) {
    self.id = id
    self.node = node
    self.link = link
    self.peer = peer
    self.limits = limits
    self.isDurable = isDurable
    self.configuration = configuration
    keeping = KeepingLimits(configuration)
    begunAt = now
    idleSince = now
    lastMoved = now
    outbox.limit = limits.messageWindow
    inbox = Inbox(window: UInt64(window))
  }

  /// The active link; nil while there is none.
  var activeLink: Link? { link?.association === self ? link : nil }

  // MARK: Another link

  /// Goes on upon another link, where the far side has so many of our frames.
  func resumed(remoteHas received: UInt64) {
    acknowledged(upTo: received)
    for frames in unacknowledged.frames(above: received) {
      backlog.append(frames)
      counts.retransmitted.add(frames: 0, bytes: frames.count)
    }
    counts.retransmitted.frames += sent - received
    // What has arrived here was told with the link.
    receivedTold = self.received
    bytesSinceTold = 0
    isAcknowledgementDue = false
    creditDue = inbox.granted
    streams.restateCredits()
    areOffersHeldBack = true
  }

  /// What the last link has lost is not all sent again: nothing new may overtake it.
  var isResending: Bool { !backlog.isEmpty || !behindBacklog.isEmpty }

  /// Nothing that waited for a link counts: it is sent again on the next one, or stated anew.
  func dropBacklog() {
    backlog.removeAll()
    behindBacklog = []
    creditDue = nil
  }

  // MARK: Sequence numbers

  /// Frames after which the far side is told what has arrived, so that it need not keep them.
  static let acknowledgedFrames: UInt64 = 64
  /// The same in bytes of messages and other bulky frames.
  static let acknowledgedBytes = 64 << 10

  /// Counts sequenced frames that were just written for the link, in this order, and keeps them until they are
  /// acknowledged. Everything sequenced leaves by this door, or by `SessionEngine.send`, which uses it.
  /// - Parameter frames: as they go to the link, best a slice of it: it is kept, not copied.
  /// - Parameter bufferCount: what of memory the slice keeps alive.
  func appendSequenced(_ frames: Bytes, count: UInt64, bufferCount: Int) {
    guard count > 0 else { return }
    sent += count
    if isDurable { unacknowledged.append(frames, last: sent, bufferCount: bufferCount) }
  }

  /// The same for one control frame.
  func appendSequenced(control frame: Bytes) {
    sent += 1
    if isDurable { unacknowledged.append(alone: frame, last: sent) }
  }

  /// Counts a sequenced frame that has arrived.
  /// - Parameter bulk: its bytes where it is of a kind that may be large.
  /// - Returns: true if an acknowledgement has just become due: its link is to be flushed.
  func countReceived(bulk: Int) -> Bool {
    received += 1
    bytesSinceTold += bulk
    guard !isAcknowledgementDue,
      received - receivedTold >= Self.acknowledgedFrames || bytesSinceTold >= Self.acknowledgedBytes
    else { return false }
    isAcknowledgementDue = true
    return true
  }

  /// Tells what has arrived.
  func acknowledge(into bytes: inout [UInt8]) {
    FrameEncoder.append(.acknowledge(received: received), to: &bytes)
    receivedTold = received
    bytesSinceTold = 0
    isAcknowledgementDue = false
  }

  /// The far side has all frames up to this number.
  func acknowledged(upTo number: UInt64) {
    guard number > acknowledged else { return }
    acknowledged = number
    unacknowledged.acknowledge(number)
  }

  /// The far side takes itself for a member by an invitation that we had withdrawn, and we are leaving it: what a
  /// member may send comes rightly, and is nobody's.
  var dropsMemberFrames: Bool { !isMember && leaving != nil }

  /// The longest frame body that we may send.
  var frameLimit: Int { Int(clamping: min(limits.frame, UInt64(WireLimits.largestFrame))) }
  var isIdle: Bool {
    !isMember && unanswered.allSatisfy { $0.command == nil } && invitation == nil && exchange == nil && proof == nil
  }
}
