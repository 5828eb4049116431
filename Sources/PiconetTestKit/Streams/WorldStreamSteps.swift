import PiconetEngine
import PiconetWire

/// An application's knowledge of a stream that it writes.
struct WrittenStream {
  let peer: NodeID
  /// The number of its truth.
  let number: Int
  /// The number of bytes that the engine has not taken yet.
  var queued = 0
  /// The number of bytes still to be written.
  var left: Int
  var endsCleanly: Bool
}

/// An application's knowledge of a stream that it reads.
struct ReadStream {
  let peer: NodeID
  /// The number of its truth; nil for a stream of a hostile node.
  let number: Int?
  /// The number of bytes delivered but not read.
  var unread = 0
  var isReading: Bool
  var hasEnded = false
}

/// Actions of applications on streams.
extension World {
  func openStream(to peer: NodeID, _ node: SimulatedNode) {
    if isCalm || node.application.messageLimits[peer] == nil { return }
    let number = streams.open(from: node.node, to: peer)
    let id = StreamID(rawValue: node.nextStream)
    node.nextStream += 1
    let size = applicationDice.chance(10) ? 0 : applicationDice.skewed(1...persona(node).largestStream)
    node.application.written[id] = WrittenStream(
      peer: peer, number: number, left: size, endsCleanly: applicationDice.chance(85))
    node.record.written[id] = number
    command(.openStream(id, to: peer, name: StreamTruths.name(number)), of: node)
    plan(.writeStream(id), of: node, in: 0)
    if applicationDice.chance(persona(node).cancelStreamChance) {
      plan(.cancelStream(id), of: node, in: applicationDice.milliseconds(0...200))
    }
  }

  /// Writes as many bytes as the budget allows. The rest follows when bytes have been taken.
  func writeStream(_ id: StreamID, _ node: SimulatedNode) {
    guard var stream = node.application.written[id] else { return }
    let budget = scenario.configurations[node.index].streamWindow
    while stream.left > 0, stream.queued < budget {
      let count = min(stream.left, budget - stream.queued, applicationDice.skewed(1...20_000))
      post(.fact(.streamWritten(id, streams.write(stream.number, count: count))), to: node)
      stream.left -= count
      stream.queued += count
      if applicationDice.chance(20) { break }
    }
    if stream.left > 0 {
      node.application.written[id] = stream
      if stream.queued < budget { plan(.writeStream(id), of: node, in: applicationDice.milliseconds(0...20)) }
    } else if stream.endsCleanly {
      node.application.written[id] = nil
      streams.finish(stream.number)
      command(.finishStream(id), of: node)
    } else {
      // It stays open until a node leaves.
      node.application.written[id] = stream
    }
  }

  func streamTaken(_ id: StreamID, _ count: Int, _ node: SimulatedNode) {
    guard var stream = node.application.written[id] else { return }
    stream.queued -= count
    node.application.written[id] = stream
    if stream.left > 0 { plan(.writeStream(id), of: node, in: 0) }
  }

  func readStream(_ id: StreamID, _ node: SimulatedNode) {
    guard var stream = node.application.read[id], stream.unread > 0 || stream.hasEnded else { return }
    let count = stream.unread
    stream.unread = 0
    node.application.read[id] = stream
    if let number = stream.number { streams.read(number, count: count) }
    post(.fact(.streamConsumed(id, byteCount: count)), to: node)
  }

  func cancelStream(_ id: StreamID, _ node: SimulatedNode) {
    node.application.written[id] = nil
    node.application.read[id] = nil
    command(.cancelStream(id, .cancelled, detail: "no more"), of: node)
  }

  /// Makes an application that left a stream unread read it now.
  func wakeReaders(of node: SimulatedNode) {
    node.application.read = node.application.read.mapValues { stream in
      var stream = stream
      stream.isReading = true
      return stream
    }
    for id in node.application.read.keys.sorted() { plan(.readStream(id), of: node, in: 0) }
  }

  // MARK: Reports to the application

  func streamOpened(_ id: StreamID, _ name: String, from peer: NodeID, _ node: SimulatedNode) {
    let number = streams.number(of: name, from: peer, to: node.node)
    var stream = ReadStream(peer: peer, number: number, isReading: true)
    if case .late = persona(node).consumption { stream.isReading = isCalm }
    if !isCalm, applicationDice.chance(10) { stream.isReading = false }
    node.application.read[id] = stream
    if !isCalm, applicationDice.chance(persona(node).cancelStreamChance) {
      plan(.cancelStream(id), of: node, in: applicationDice.milliseconds(0...200))
    }
  }

  func streamReceived(_ id: StreamID, _ bytes: Bytes, _ node: SimulatedNode) {
    guard var stream = node.application.read[id] else { return }
    stream.unread += bytes.count
    node.application.read[id] = stream
    guard stream.isReading else { return }
    var delay: UInt64 = 0
    if case .delayed(let most) = persona(node).consumption, !isCalm { delay = applicationDice.word() % max(1, most) }
    plan(.readStream(id), of: node, in: delay)
  }

  /// Handles the end of a stream. A stream that the application has not read stays until the end of the active time. A
  /// void stream is forgotten.
  func streamEnded(_ id: StreamID, _ end: StreamEnd, _ node: SimulatedNode) {
    if end != .finished { node.application.read[id] = nil }
    guard var stream = node.application.read[id] else { return }
    stream.hasEnded = true
    node.application.read[id] = stream
    if stream.isReading { plan(.readStream(id), of: node, in: 0) }
  }
}
