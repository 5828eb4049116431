import PiconetWire

/// The streams of one association, both ways, by their numbers on the wire, and the queue in which outgoing ones take
/// turns.
struct StreamTable {
  /// The number of streams that the remote side accepts at once; nil if it accepts none at all.
  let limit: UInt64?
  /// Bytes of each stream before its first credit. The remote side's hello states them for outgoing streams, and our
  /// hello for incoming ones.
  private var outgoingWindow: UInt64
  private(set) var incomingWindow: UInt64

  private(set) var outgoing: [UInt64: StreamSender] = [:]
  private(set) var incoming: [UInt64: StreamReceiver] = [:]
  private var numbers = StreamNumbers()
  /// Outgoing streams with something to send, each once. The first has the next turn.
  private var queue = FirstInFirstOut<UInt64>()
  /// Limits to tell the remote side. The last one of a stream replaces earlier ones.
  private var creditsDue: [UInt64: UInt64] = [:]

  init(limit: UInt64?, outgoingWindow: UInt64, incomingWindow: UInt64) {
    self.limit = limit
    self.outgoingWindow = outgoingWindow
    self.incomingWindow = incomingWindow
  }

  /// Reconciles the windows of further hellos. We accept what any of them allows, and send no more than all of them
  /// allow.
  mutating func agree(outgoingWindow: UInt64, incomingWindow: UInt64) {
    self.outgoingWindow = min(self.outgoingWindow, outgoingWindow)
    self.incomingWindow = max(self.incomingWindow, incomingWindow)
  }

  /// The largest number of stream numbers that were in use at once.
  var usedNumberCount: Int { numbers.usedCount }
  var hasTurns: Bool { !queue.isEmpty }
  var hasCredits: Bool { !creditsDue.isEmpty }
  /// Whether an end was requested and has not been sent.
  var hasUnsentEnds: Bool {
    outgoing.values.contains { $0.finishing != nil && ($0.phase == .waiting || $0.phase == .open) }
  }
  var queuedCount: Int { outgoing.values.reduce(0) { $0 + $1.queuedCount } }

  /// - Returns: the number; nil if as many streams are open as the remote side accepts.
  mutating func open(_ id: StreamID, name: String) -> UInt64? {
    guard let limit, UInt64(outgoing.count) < limit, let number = numbers.take() else { return nil }
    outgoing[number] = StreamSender(id: id, number: number, name: name, window: outgoingWindow)
    enqueue(number)
    return number
  }

  /// Removes a stream that is over on both sides. Its number may be used again.
  mutating func forget(outgoing number: UInt64) {
    guard let stream = outgoing.removeValue(forKey: number) else { return }
    if stream.isQueued { dequeue(number) }
    numbers.giveBack(number)
  }

  mutating func append(_ stream: StreamReceiver) { incoming[stream.number] = stream }

  mutating func forget(incoming number: UInt64) {
    incoming[number] = nil
    creditsDue[number] = nil
  }

  mutating func removeAll() {
    outgoing = [:]
    incoming = [:]
  }

  // MARK: Turns

  /// Puts a stream that has changed into the queue if it has something to send.
  mutating func enqueue(_ number: UInt64) {
    guard let stream = outgoing[number], !stream.isQueued, stream.hasSomething else { return }
    stream.setQueued(true)
    queue.append(number)
  }

  private mutating func dequeue(_ number: UInt64) {
    let rest = queue.elements.filter { $0 != number }
    queue.removeAll()
    for other in rest { queue.append(other) }
  }

  /// Writes frames of one stream after the other, a turn each, until nothing is left or nothing more fits. A stream
  /// without credit is not in the queue, and delays no other.
  /// - Returns: sequenced frames written, and the bytes of each stream that have left its queue.
  mutating func frame(into bytes: inout [UInt8], room: Int, frameLimit: Int) -> (
    frames: UInt64, taken: [(id: StreamID, count: Int)]
  ) {
    var frames: UInt64 = 0
    var taken: [(id: StreamID, count: Int)] = []
    let end = bytes.count + room
    while let number = queue.first {
      guard let stream = outgoing[number] else {
        _ = queue.popFirst()
        continue
      }
      let turn = stream.takeTurn(into: &bytes, room: end - bytes.count, frameLimit: frameLimit)
      frames += turn.frames
      if turn.byteCount > 0 {
        // A single stream takes turn after turn; its application is told once.
        if taken.last?.id == stream.id {
          taken[taken.count - 1].count += turn.byteCount
        } else {
          taken.append((stream.id, turn.byteCount))
        }
      }
      // Its turn comes first when there is room again.
      if turn.lacksRoom { break }
      _ = queue.popFirst()
      stream.setQueued(false)
      enqueue(number)
    }
    return (frames, taken)
  }

  // MARK: Credit

  mutating func dropCredit(of number: UInt64) { creditsDue[number] = nil }

  mutating func owe(credit limit: UInt64, of number: UInt64) { creditsDue[number] = limit }

  /// Makes the next flush state the limits of all streams that are being read again, on a new link.
  mutating func restateCredits() {
    for stream in incoming.values where stream.phase == .open { creditsDue[stream.number] = stream.limit }
  }

  mutating func appendCredits(into bytes: inout [UInt8]) {
    for number in creditsDue.keys.sorted() {
      if let limit = creditsDue[number] { FrameEncoder.append(.streamCredit(stream: number, limit: limit), to: &bytes) }
    }
    creditsDue.removeAll(keepingCapacity: true)
  }
}

/// Numbers of outgoing streams on the wire. A number that is free again is used first, so that numbers stay short.
private struct StreamNumbers: Sendable {
  private var free: [UInt64] = []
  private var next: UInt64 = 0

  /// The largest number of stream numbers that were in use at once.
  var usedCount: Int { Int(next) }

  mutating func take() -> UInt64? {
    if let number = free.popLast() { return number }
    guard next < WireLimits.streamNumbers else { return nil }
    defer { next += 1 }
    return next
  }

  mutating func giveBack(_ number: UInt64) { free.append(number) }
}
