import PiconetWire

/// The sequenced frames of one association, both ways. It counts them, keeps our own until they are acknowledged, and
/// sends them again on another link. It also knows when we owe the remote side an acknowledgement.
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
  /// Frames that are sent again on a new link, before anything new.
  private var backlog = FirstInFirstOut<Bytes>()
  /// New control frames, which must not overtake the backlog.
  private var behindBacklog: [UInt8] = []

  init(isDurable: Bool) { self.isDurable = isDurable }

  // MARK: Sent frames

  /// Counts frames that were just written for the link, in this order, and keeps them until they are acknowledged. All
  /// sequenced frames pass through this function or the next.
  /// - Parameter frames: the frames as they go to the link, ideally a slice of that buffer: they are kept, not copied.
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

  /// Notes that the remote side has all frames up to this number.
  mutating func acknowledge(upTo number: UInt64) {
    guard number > acknowledged else { return }
    acknowledged = number
    unacknowledged.acknowledge(number)
  }

  // MARK: Received frames

  /// The number of frames after which we acknowledge, so that the remote side need not keep them.
  private static let acknowledgedFrames: UInt64 = 64
  /// The number of bytes of messages and other bulky frames after which we acknowledge.
  private static let acknowledgedBytes = 64 << 10

  /// Counts a frame that has arrived.
  /// - Parameter bulk: the bytes of the frame if it is of a kind that may be large.
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

  /// Whether frames lost with the last link are still to be sent again. Nothing new may overtake them.
  var isResending: Bool { !backlog.isEmpty || !behindBacklog.isEmpty }

  /// Bytes of control frames that wait behind the frames to be sent again.
  var waitingCount: Int { behindBacklog.count }

  /// Drops the backlog of a lost link. Frames still to be sent again stay in `unacknowledged` for the next link.
  mutating func detach() {
    backlog.removeAll()
    behindBacklog = []
  }

  /// Prepares to send again, on another link, the frames that the remote side lacks. It has received this many of our
  /// frames.
  /// - Returns: how many frames and bytes are sent again.
  mutating func resume(remoteHas received: UInt64) -> LaneCount {
    acknowledge(upTo: received)
    var repeated = LaneCount(frames: sent - received)
    for frames in unacknowledged.frames(above: received) {
      backlog.append(frames)
      repeated.add(frames: 0, bytes: frames.count)
    }
    // The handshake of this link has told the remote side what has arrived here.
    told()
    return repeated
  }

  mutating func appendBehindBacklog(_ frame: [UInt8]) { behindBacklog.append(contentsOf: frame) }

  /// Writes frames that were lost with another link: whole frames, as many as fit, but at least one if there is any
  /// room.
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
