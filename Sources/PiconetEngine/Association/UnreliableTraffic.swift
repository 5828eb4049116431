import PiconetWire

/// Counts of the unreliable messages between two members since their association began.
public struct UnreliableCounts: Sendable, Hashable {
  /// Handed to the link.
  public var sent: UInt64 = 0
  /// Not sent, because the link could not take them at that moment.
  public var dropped: UInt64 = 0
  /// Arrived and delivered.
  public var received: UInt64 = 0
  /// Arrived behind newer messages. Those that were delivered nevertheless count as received too.
  public var late: UInt64 = 0

  public init() {}
}

/// The numbers of unreliable messages, both ways. Only the association changes them, in the extension below.
struct UnreliableTraffic: Sendable {
  /// Bytes of the number in front of an unreliable message.
  static let numberCount = 8

  private var lastSent: UInt64 = 0
  private var newest: UInt64 = 0
  private(set) var counts = UnreliableCounts()

  /// Returns the next number. Every message has one, whether the link takes it or not.
  fileprivate mutating func nextNumber() -> UInt64 {
    lastSent += 1
    return lastSent
  }

  /// Counts a message that the link could not take.
  fileprivate mutating func dropped() { counts.dropped += 1 }

  /// Counts a message that the link takes with the next flush.
  fileprivate mutating func queued() { counts.sent += 1 }

  /// Counts messages that the link was to take with this flush and that were dropped after all.
  fileprivate mutating func droppedQueued(_ count: UInt64) {
    counts.sent -= count
    counts.dropped += count
  }

  /// Returns whether to deliver an incoming message.
  fileprivate mutating func takes(_ number: UInt64, deliversLate: Bool) -> Bool {
    guard number > newest else {
      counts.late += 1
      if deliversLate { counts.received += 1 }
      return deliversLate
    }
    newest = number
    counts.received += 1
    return true
  }
}

extension Association {
  var unreliableCounts: UnreliableCounts { unreliable.counts }

  /// Gives a message to the link if the link takes it with the next flush; if not, drops it. The message must not
  /// overtake frames that are sent again over another link: one of them may be the frame that makes us a member there.
  func queueUnreliable(_ message: Bytes) {
    let number = unreliable.nextNumber()
    guard message.count <= peer.unreliableLimit, !sequenced.isResending, let link = activeLink,
      link.takesUnreliable(message.count, window: link.transmitWindow)
    else {
      unreliable.dropped()
      return
    }
    counts.sentUnreliable(bytes: link.queueUnreliable(number, message))
    unreliable.queued()
  }

  /// Sends the messages queued for this flush although the window is full. If control frames wait, which the messages
  /// must not overtake, it drops the messages instead.
  func transmitUnreliable(on link: Link, _ turn: Turn) {
    let count = UInt64(link.unreliableCount)
    guard count > 0 else { return }
    let bytes = link.takeUnreliable()
    guard link.control.isEmpty else {
      unreliable.droppedQueued(count)
      counts.tookBack(unreliable: count, bytes: bytes.count)
      return
    }
    link.hand(over: bytes[...], turn)
  }

  func receivedUnreliable(_ number: UInt64, _ message: Bytes, _ turn: Turn) throws(Breach) {
    guard isMember else {
      if dropsMemberFrames { return }
      throw Breach("a message before the invitation was accepted")
    }
    let limit = configuration.messageLimit
    guard message.count <= limit else {
      throw Breach("an unreliable message of \(message.count) bytes; the limit is \(limit) bytes", .limitExceeded)
    }
    if unreliable.takes(number, deliversLate: configuration.deliversLateMessages) {
      turn.deliver(.messagesReceived(node, [message], .unreliable))
    }
  }
}
