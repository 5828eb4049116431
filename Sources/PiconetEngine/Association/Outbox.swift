import PiconetWire

/// Reliable messages on their way out: queued, cut into frames, held back by the far side's credit.
struct Outbox: Sendable {
  private var queue = FirstInFirstOut<Bytes>()
  /// What of the first message was framed already.
  private var firstOffset = 0
  /// Cost of all that was framed since the association began; never above `limit`.
  private(set) var used: UInt64 = 0
  /// The far side's credit.
  var limit: UInt64 = 0
  /// Cost of what is queued.
  private(set) var queuedCost = 0

  var isEmpty: Bool { queue.isEmpty }

  static func cost(of message: Bytes) -> Int { message.count + WireLimits.messageCost }

  mutating func append(_ message: Bytes) {
    queue.append(message)
    queuedCost += Self.cost(of: message)
  }

  /// Frames what credit and `room` allow.
  /// - Returns: sequenced frames written, and the cost of the messages that have left the queue.
  mutating func frame(into bytes: inout [UInt8], room: Int, frameLimit: Int) -> (frames: UInt64, cost: Int) {
    var frames: UInt64 = 0
    var cost = 0
    let end = bytes.count + room
    while let message = queue.first {
      let left = message.count - firstOffset
      let isLast = left <= frameLimit
      let count = isLast ? left : frameLimit
      let credit = UInt64(count + (isLast ? WireLimits.messageCost : 0))
      // A frame is begun only where it fits whole; room for the largest frame is below every window.
      guard used + credit <= limit, bytes.count + count + 5 <= end else { break }
      FrameEncoder.appendHeader(
        type: isLast ? FrameType.message : FrameType.fragment, bodyCount: count, to: &bytes)
      let start = message.startIndex + firstOffset
      bytes.append(contentsOf: message[start..<(start + count)])
      used += credit
      frames += 1
      if isLast {
        _ = queue.popFirst()
        firstOffset = 0
        cost += Self.cost(of: message)
      } else {
        firstOffset += count
      }
    }
    queuedCost -= cost
    return (frames, cost)
  }
}
