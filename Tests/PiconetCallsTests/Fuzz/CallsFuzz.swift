import PiconetCalls

/// Everything that is read from a member's messages about calls: data items, frames, and both ends of a conversation.
enum CallsFuzz {
  /// - Returns: what was not as it should be, or nil.
  static func run(_ bytes: some Collection<UInt8>) -> String? {
    let rest = Array(bytes.dropFirst())
    switch (bytes.first ?? 0) % 4 {
    case 0: return item(rest)
    case 1: return frame(rest)
    case 2: return values(rest)
    default: return conversation(rest)
    }
  }

  private static func item(_ bytes: [UInt8]) -> String? {
    var reader = CBORReader(bytes)
    let skipped = (try? reader.skip()) != nil && reader.isAtEnd
    guard let value = try? CBORValue(decoding: bytes) else { return nil }
    if !skipped { return "\(value) can be read, but not passed over" }
    let again = value.encoded
    if again.count > bytes.count { return "\(value) has grown from \(bytes.count) to \(again.count) bytes" }
    guard let read = try? CBORValue(decoding: again) else { return "\(value) can't be read again" }
    // No not-a-number is equal to itself.
    return read.encoded == again ? nil : "\(value) is read again as \(read)"
  }

  private static func frame(_ bytes: [UInt8]) -> String? {
    guard let frame = try? CallFrame(decoding: bytes[...]) else { return nil }
    if case .unknown = frame { return nil }
    guard let again = try? CallFrame(decoding: frame.encoded[...]) else { return "\(frame) can't be read again" }
    return again.encoded == frame.encoded ? nil : "\(frame) is read again as \(again)"
  }

  private struct Anything: Codable {
    var number: Int?
    var text: String?
    var bytes: [UInt8]?
    var float: Double?
    var all: [Anything]?
    var named: [String: Anything]?
  }

  private static func values(_ bytes: [UInt8]) -> String? {
    guard let value = try? CBORValue(decoding: bytes) else { return nil }
    let decoder = CBORDecoder()
    _ = try? decoder.decode([String: Int8].self, from: value)
    _ = try? decoder.decode([UInt64?].self, from: value)
    _ = try? decoder.decode([Float].self, from: value)
    guard let first = try? decoder.decode(Anything.self, from: value) else { return nil }
    guard let item = try? CBOREncoder().value(of: first) else { return "what was read can't be written: \(value)" }
    return (try? decoder.decode(Anything.self, from: item)) == nil ? "what was written can't be read: \(item)" : nil
  }

  /// Frames, each after its length in one byte, some of them late.
  private static func conversation(_ bytes: [UInt8]) -> String? {
    var calls = PeerCalls(instance: 1, own: CallLimits(frame: 65_536, calls: 16))
    var rest = bytes[...]
    var now = Duration.zero
    var own: UInt64 = 0
    var waiting: Set<UInt64> = []
    var running: Set<UInt64> = []
    while let count = rest.popFirst() {
      var effects: [PeerCalls.Effect] = []
      switch count {
      case 0xFF:
        now += .milliseconds(50)
        effects = calls.expired(at: now)
      case 0xFE:
        own += 1
        if (try? calls.begin(own, [], until: now + .milliseconds(200))) != nil { waiting.insert(own) }
      case 0xFD:
        if let number = running.popFirst() { _ = calls.finished(number, with: .failed(CallFailure(.thrown, ""))) }
      default:
        effects = calls.received(rest.prefix(Int(count)), at: now)
        rest = rest.dropFirst(Int(count))
      }
      for effect in effects {
        switch effect {
        case .settle(let number, _):
          if waiting.remove(number) == nil { return "call \(number) was settled, and nobody waits for it" }
        case .serve(let call):
          if !running.insert(call.number).inserted { return "call \(call.number) is served twice" }
        case .stop(let number):
          if !running.contains(number) { return "call \(number) is stopped, and nobody serves it" }
        case .send(let frame, _):
          if (try? CallFrame(decoding: frame[...])) == nil { return "an own frame can't be read" }
        case .call, .withdraw, .refused, .greeted, .passed, .closed: break
        }
      }
      if calls.servedCount != running.count || running.count > 16 { return "\(running.count) calls are served" }
      if calls.outgoingCount != waiting.count { return "\(waiting.count) calls wait" }
    }
    return nil
  }
}
