import PiconetWire

/// Reliable messages on their way out: queued, cut into frames, held back by the remote side's credit.
struct Outbox: Sendable {
  private var queue = FirstInFirstOut<Bytes>()
  /// What of the first message was framed already.
  private var firstOffset = 0
  /// Cost of all that was framed since the association began; never above `limit`.
  private(set) var used: UInt64 = 0
  /// The remote side's credit.
  private(set) var limit: UInt64
  /// Cost of what is queued.
  private(set) var queuedCost = 0

  init(limit: UInt64) { self.limit = limit }

  var isEmpty: Bool { queue.isEmpty }

  /// What may still go before there is more credit.
  var credit: UInt64 { limit - min(used, limit) }

  /// More credit; one that is overtaken by another says nothing.
  mutating func credit(_ limit: UInt64) { self.limit = max(self.limit, limit) }

  /// What the remote side may mean by its hello is less, and it has received nothing yet.
  mutating func restrict(to limit: UInt64) { self.limit = min(self.limit, limit) }

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
