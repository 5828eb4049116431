import PiconetWire

/// Outgoing reliable messages of one channel: queued, cut into frames, held back by the remote side's credit.
struct Outbox: Sendable {
  let channel: MessageChannel
  private var queue = FirstInFirstOut<Bytes>()
  /// How many bytes of the first message have been framed already.
  private var firstOffset = 0
  /// Cost of all messages framed since the association began; never above `limit`.
  private(set) var used: UInt64 = 0
  /// How much the remote side accepts in all since the association began.
  private(set) var limit: UInt64
  /// Cost of the queued messages.
  private(set) var queuedCost = 0

  init(in channel: MessageChannel = 0, limit: UInt64) {
    self.channel = channel
    self.limit = limit
  }

  var isEmpty: Bool { queue.isEmpty }

  /// How much may still be sent before the remote side grants more credit.
  var credit: UInt64 { limit - min(used, limit) }

  /// Grants more credit; a limit below the present one changes nothing.
  mutating func credit(_ limit: UInt64) { self.limit = max(self.limit, limit) }

  /// Lowers the limit: another hello of the remote side may state a smaller one, and it has received nothing yet.
  mutating func restrict(to limit: UInt64) { self.limit = min(self.limit, limit) }

  static func cost(of message: Bytes) -> Int { message.count + WireLimits.messageCost }

  mutating func append(_ message: Bytes) {
    queue.append(message)
    queuedCost += Self.cost(of: message)
  }

  /// Returns whether the first message is partly framed already, or longer than this.
  func isFirstLong(above limit: Int) -> Bool { firstOffset > 0 || (queue.first?.count ?? 0) > limit }

  /// Frames as much as credit and `room` allow.
  /// - Returns: sequenced frames written, and the cost of the messages that have left the queue.
  mutating func frame(into bytes: inout [UInt8], room: Int, frameLimit: Int) -> (frames: UInt64, cost: Int) {
    var frames: UInt64 = 0
    var cost = 0
    let end = bytes.count + room
    while let taken = framePart(into: &bytes, end: end, frameLimit: frameLimit) {
      frames += 1
      cost += taken
    }
    return (frames, cost)
  }

  /// Frames the first message, or the next part of it, if credit and room allow.
  /// - Parameter end: the maximum length of `bytes`.
  /// - Returns: the cost of the message if it has left the queue, 0 if more of it follows; nil if nothing may be sent.
  @inline(__always)
  mutating func framePart(into bytes: inout [UInt8], end: Int, frameLimit: Int) -> Int? {
    guard let message = queue.first else { return nil }
    let left = message.count - firstOffset
    let isLast = left <= frameLimit
    let count = isLast ? left : frameLimit
    let credit = UInt64(count + (isLast ? WireLimits.messageCost : 0))
    // A frame is begun only if it fits whole; every window has room for the largest.
    guard used + credit <= limit, bytes.count + count + headerLimit <= end else { return nil }
    appendHeader(isLast: isLast, count, to: &bytes)
    let start = message.startIndex + firstOffset
    bytes.append(contentsOf: message[start..<(start + count)])
    used += credit
    guard isLast else {
      firstOffset += count
      return 0
    }
    _ = queue.popFirst()
    firstOffset = 0
    let cost = Self.cost(of: message)
    queuedCost -= cost
    return cost
  }

  /// The maximum number of bytes of a part's header.
  private var headerLimit: Int { channel == 0 ? FrameEncoder.headerLimit : FrameEncoder.channelHeaderLimit }

  @inline(__always)
  private func appendHeader(isLast: Bool, _ count: Int, to bytes: inout [UInt8]) {
    if channel == 0 {
      FrameEncoder.appendHeader(type: isLast ? FrameType.message : FrameType.fragment, bodyCount: count, to: &bytes)
    } else {
      let type = isLast ? FrameType.channelMessage : FrameType.channelFragment
      FrameEncoder.appendHeader(of: type, in: channel, payloadCount: count, to: &bytes)
    }
  }
}
