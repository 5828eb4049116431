import PiconetWire

/// The sequenced frames of one association, both ways: how many there were, what of ours is kept until it is
/// acknowledged, what of it is sent again on another link, and whether the remote side is to be told of its own.
struct SequencedFrames: Sendable {
  /// Whether both sides can resume, so that what is sent is kept.
  private let isDurable: Bool
  private(set) var sent: UInt64 = 0
  private(set) var acknowledged: UInt64 = 0
  /// Empty if the remote side does not resume.
  private(set) var unacknowledged = Unacknowledged()
  private(set) var received: UInt64 = 0
  private var receivedTold: UInt64 = 0
  /// Bytes of messages and of other bulky frames that came since the last acknowledgement.
  private var bytesSinceTold = 0
  /// Whether the next flush acknowledges what has arrived.
  private(set) var isAcknowledgementDue = false
  /// What is sent again on a new link, before anything new.
  private var backlog = FirstInFirstOut<Bytes>()
  /// New control frames, which must not overtake the backlog.
  private var behindBacklog: [UInt8] = []

  init(isDurable: Bool) { self.isDurable = isDurable }

  // MARK: Ours

  /// Counts frames that were just written for the link, in this order, and keeps them until they are acknowledged.
  /// Everything sequenced passes through this function or the next.
  /// - Parameter frames: as they go to the link, best a slice of it: it is kept, not copied.
  /// - Parameter bufferCount: how much memory the slice keeps alive, in bytes.
  mutating func append(_ frames: Bytes, count: UInt64, bufferCount: Int) {
    guard count > 0 else { return }
    sent += count
    if isDurable { unacknowledged.append(frames, last: sent, bufferCount: bufferCount) }
  }

  /// Counts one control frame that was just written for the link, and keeps it until it is acknowledged.
  mutating func append(control frame: Bytes) {
    sent += 1
    if isDurable { unacknowledged.append(alone: frame, last: sent) }
  }

  /// The remote side has all frames up to this number.
  mutating func acknowledge(upTo number: UInt64) {
    guard number > acknowledged else { return }
    acknowledged = number
    unacknowledged.acknowledge(number)
  }

  // MARK: The remote side's

  /// After how many frames we acknowledge, so that the remote side need not keep them.
  private static let acknowledgedFrames: UInt64 = 64
  /// After how many bytes of messages and other bulky frames we acknowledge.
  private static let acknowledgedBytes = 64 << 10

  /// Counts a frame that has arrived.
  /// - Parameter bulk: its bytes if it is of a kind that may be large.
  /// - Returns: true if an acknowledgement has just become due, so that its link must be flushed.
  mutating func countReceived(bulk: Int) -> Bool {
    received += 1
    bytesSinceTold += bulk
    guard !isAcknowledgementDue,
      received - receivedTold >= Self.acknowledgedFrames || bytesSinceTold >= Self.acknowledgedBytes
    else { return false }
    isAcknowledgementDue = true
    return true
  }

  mutating func appendAcknowledgement(into bytes: inout [UInt8]) {
    FrameEncoder.append(.acknowledge(received: received), to: &bytes)
    told()
  }

  /// Notes that the remote side has been told what has arrived.
  private mutating func told() {
    receivedTold = received
    bytesSinceTold = 0
    isAcknowledgementDue = false
  }

  // MARK: Another link

  /// Whether frames that the last link has lost are still to be sent again: nothing new may overtake them.
  var isResending: Bool { !backlog.isEmpty || !behindBacklog.isEmpty }

  /// Bytes of control frames that wait behind what is sent again.
  var waitingCount: Int { behindBacklog.count }

  /// The link is gone: what was still to be sent again on it stays in `unacknowledged` for the next one.
  mutating func detach() {
    backlog.removeAll()
    behindBacklog = []
  }

  /// Prepares to send again, on another link, what the remote side lacks. It has received this many of our frames.
  /// - Returns: how much is sent again.
  mutating func resume(remoteHas received: UInt64) -> LaneCount {
    acknowledge(upTo: received)
    var repeated = LaneCount(frames: sent - received)
    for frames in unacknowledged.frames(above: received) {
      backlog.append(frames)
      repeated.add(frames: 0, bytes: frames.count)
    }
    // The handshake of this link has told what has arrived here.
    told()
    return repeated
  }

  mutating func appendBehindBacklog(_ frame: [UInt8]) { behindBacklog.append(contentsOf: frame) }

  /// Writes frames that another link has lost: whole frames, as many as there is room for, but at least one if there is
  /// any room.
  /// - Returns: how many bytes were written.
  mutating func frameBacklog(into bytes: inout [UInt8], room: Int) -> Int {
    let before = bytes.count
    while let frames = backlog.first, bytes.count - before < room {
      let part = FrameCut.prefix(of: frames, upTo: room - (bytes.count - before))
      bytes.append(contentsOf: part)
      if part.count == frames.count {
        _ = backlog.popFirst()
      } else {
        backlog.replaceFirst(frames.dropFirst(part.count))
      }
    }
    if backlog.isEmpty, bytes.count - before < room {
      bytes += behindBacklog
      behindBacklog = []
    }
    return bytes.count - before
  }
}
