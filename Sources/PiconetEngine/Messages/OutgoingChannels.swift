import PiconetWire

/// Outgoing messages in the channels other than 0, and the order of turns, which includes channel 0.
struct OutgoingChannels: Sendable {
  /// The number of channels in which the remote side takes messages.
  let limit: UInt64
  private let priorities: ChannelPriorities
  /// The credit of each channel before its first `channelCredit`.
  private var window: UInt64
  private var outboxes = ChannelTable<Outbox>()
  /// The channels with messages, in the order of their numbers.
  private var waiting: [MessageChannel] = []
  /// The channel that had the last turn.
  private var last: MessageChannel = 0

  /// The room for frames, as lengths of the buffer that they are written to, and their longest bodies.
  struct Room {
    /// For whole messages.
    let end: Int
    /// For parts of long messages, and for channels of low priority.
    let bulkEnd: Int
    let frameLimit: Int
    let bulkFrameLimit: Int
  }

  /// The frames that were written.
  struct Framed {
    var frames: UInt64 = 0
    /// The cost of the messages that have left the queue of their channel.
    var taken: [(channel: MessageChannel, cost: Int)] = []

    mutating func add(_ cost: Int, in channel: MessageChannel) {
      frames += 1
      if cost == 0 { return }
      if let index = taken.firstIndex(where: { $0.channel == channel }) {
        taken[index].cost += cost
      } else {
        taken.append((channel, cost))
      }
    }
  }

  init(limit: UInt64, window: UInt64, priorities: ChannelPriorities) {
    self.limit = limit
    self.window = window
    self.priorities = priorities
  }

  /// Whether no channel but 0 has anything to send. Messages of channel 0 wait elsewhere.
  var isEmpty: Bool { waiting.isEmpty }

  /// The cost of the queued messages.
  var queuedCost: Int { outboxes.values.reduce(0) { $0 + $1.queuedCost } }

  /// Keeps to both of two hellos: sends no more than either window allows.
  mutating func agree(window: UInt64) { self.window = min(self.window, window) }

  /// - Parameter channel: not 0, and below `limit`.
  mutating func append(_ message: Bytes, in channel: MessageChannel) {
    let index = outboxes.index(of: channel, default: Outbox(in: channel, limit: window))
    outboxes.values[index].append(message)
    guard !waiting.contains(channel) else { return }
    waiting.insert(channel, at: waiting.firstIndex { $0 > channel } ?? waiting.endIndex)
  }

  /// Grants more credit; ignored for a channel in which nothing was sent.
  mutating func credit(_ limit: UInt64, in channel: MessageChannel) {
    if let index = outboxes.index(of: channel) { outboxes.values[index].credit(limit) }
  }

  // MARK: Turns

  /// Frames as much as credit and room allow: a frame of each channel in turn, those of the highest priority first.
  mutating func frame(beside first: inout Outbox, into bytes: inout [UInt8], _ room: Room) -> Framed {
    var framed = Framed()
    if first.isEmpty, waiting.count == 1 {
      // The usual case: no turns, and no arrays for them.
      let channel = waiting[0]
      while let cost = framePart(of: channel, beside: &first, into: &bytes, priorities[channel], room) {
        framed.add(cost, in: channel)
        last = channel
      }
      if outboxes.index(of: channel).map({ outboxes.values[$0].isEmpty }) ?? true { waiting = [] }
      return framed
    }
    for priority in ChannelPriority.allCases {
      var turns = turns(of: priority, isFirstWaiting: !first.isEmpty)
      while !turns.isEmpty {
        // A channel that can't continue now can't continue in this flush.
        turns.removeAll { channel in
          guard let cost = framePart(of: channel, beside: &first, into: &bytes, priority, room) else { return true }
          framed.add(cost, in: channel)
          last = channel
          return false
        }
      }
    }
    waiting.removeAll { channel in outboxes.index(of: channel).map { outboxes.values[$0].isEmpty } ?? true }
    return framed
  }

  /// Returns the channels of this priority with messages, in order, starting after the one that had the last turn.
  private func turns(of priority: ChannelPriority, isFirstWaiting: Bool) -> [MessageChannel] {
    let all = (isFirstWaiting ? [0] : []) + waiting
    let ours = all.filter { priorities[$0] == priority }
    let start = ours.firstIndex { $0 > last } ?? 0
    return Array(ours[start...] + ours[..<start])
  }

  /// - Returns: the cost of the message if this was its last part, 0 for an earlier part; nil if nothing may go.
  private mutating func framePart(
    of channel: MessageChannel, beside first: inout Outbox, into bytes: inout [UInt8], _ priority: ChannelPriority,
    _ room: Room
  ) -> Int? {
    let end = priority == .low ? room.bulkEnd : room.end
    if channel == 0 { return first.framePart(into: &bytes, end: end, frameLimit: room.frameLimit) }
    let limit = partLimit(room)
    guard let index = outboxes.index(of: channel) else { return nil }
    let isLong = outboxes.values[index].isFirstLong(above: limit)
    return outboxes.values[index].framePart(into: &bytes, end: isLong ? room.bulkEnd : end, frameLimit: limit)
  }

  /// Returns the longest part. It is short enough that others wait little for it, and that credit for the next part is
  /// sure to come (section 6 of the wire format).
  private func partLimit(_ room: Room) -> Int {
    let body = min(room.frameLimit, room.bulkFrameLimit) - FrameEncoder.channelCount
    return max(1, min(body, Int(clamping: window / 2)))
  }
}
