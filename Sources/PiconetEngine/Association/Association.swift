import PiconetWire

/// What two nodes share while they are connected, in one engine, which alone has it (an object for the reason of `Link`): sequence numbers, credit, membership, what waits to be sent.
final class Association {
  let id: AssociationID
  let node: NodeID
  /// The active link.
  let link: LinkID
  let peer: ProvenPeer
  let begunAt: Instant
  /// The far side's limits.
  let limits: PeerLimits

  /// How many associations the far side had begun with us when it confirmed this one; nil until then.
  var farBegun: UInt64?

  // Sequence numbers: counts of sequenced frames.
  var sent: UInt64 = 0
  var acknowledged: UInt64 = 0
  var received: UInt64 = 0
  var receivedTold: UInt64 = 0

  // Membership.
  var isMember = false
  /// Invitations of ours that have no answer yet, oldest first; nil where we withdrew. Each gets exactly one answer.
  var unanswered: [CommandID?] = []
  /// Until when the far side's invitation may be answered.
  var invitationExpires: Instant?
  /// Since when nobody has been a member or invited.
  var idleSince: Instant
  var leaving: Leaving?

  // Messages.
  var outbox = Outbox()
  var inbox: Inbox
  /// A limit of message credit that the far side is to be told; the last one says all.
  var creditDue: UInt64?

  // Transfers: wire numbers to transfers, each way.
  var outgoing: [UInt64: TransferID] = [:]
  var incoming: [UInt64: TransferID] = [:]
  /// Outgoing transfers in the order of their offers; the first with something to send goes first.
  var outgoingOrder: [TransferID] = []
  var numbers = TransferNumbers()
  /// Offers wait until the link has taken the control frames before them.
  var areOffersHeldBack = false

  struct Leaving: Sendable {
    var command: CommandID?
    var reason: Reason
    var deadline: Instant
    /// The leave frame was sent; the far side closes the link.
    var isTold = false
  }

  init(
    id: AssociationID, node: NodeID, link: LinkID, peer: ProvenPeer, limits: PeerLimits, window: Int, at now: Instant
  ) {
    self.id = id
    self.node = node
    self.link = link
    self.peer = peer
    self.limits = limits
    begunAt = now
    idleSince = now
    outbox.limit = limits.messageWindow
    inbox = Inbox(window: UInt64(window))
  }

  /// Whether the message may be queued: sent to a member that we are not leaving, within the limit of both sides.
  func takes(_ message: Bytes) -> Bool {
    isMember && leaving == nil && message.count <= peer.messageLimit
  }

  /// Received frames are acknowledged with what is sent anyway, once there are some.
  func acknowledge(into bytes: inout [UInt8]) {
    guard received - receivedTold >= 64 else { return }
    FrameEncoder.append(.acknowledge(received: received), to: &bytes)
    receivedTold = received
  }

  /// The far side takes itself for a member by an invitation that we had withdrawn, and we are leaving it: what a member may
  /// send comes rightly, and is nobody's.
  var dropsMemberFrames: Bool { !isMember && leaving != nil }

  /// Counts a message frame and completes its message; nil where it is nobody's.
  func take(_ bytes: Bytes, messageLimit: Int) throws(InboxBreach) -> Bytes? {
    guard isMember || dropsMemberFrames else { throw InboxBreach.notMember }
    received += 1
    guard isMember else { return nil }
    return try inbox.message(bytes, messageLimit: messageLimit)
  }

  /// The longest frame body that we may send.
  var frameLimit: Int { Int(clamping: min(limits.frame, UInt64(WireLimits.largestFrame))) }
  var isIdle: Bool { !isMember && unanswered.allSatisfy { $0 == nil } && invitationExpires == nil }
}

/// Numbers of outgoing transfers on the wire: the smallest free one, so that it stays short.
struct TransferNumbers: Sendable {
  /// Numbers that came back, the smallest last.
  private var free: [UInt64] = []
  private var next: UInt64 = 0

  mutating func take() -> UInt64? {
    if let number = free.popLast() { return number }
    guard next < WireLimits.transferNumbers else { return nil }
    defer { next += 1 }
    return next
  }

  mutating func giveBack(_ number: UInt64) {
    var (low, high) = (0, free.count)
    while low < high {
      let middle = (low + high) / 2
      if free[middle] > number { low = middle + 1 } else { high = middle }
    }
    free.insert(number, at: low)
  }
}
