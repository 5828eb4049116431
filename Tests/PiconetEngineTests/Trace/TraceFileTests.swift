import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("An invalid trace file is refused")
struct TraceFileTests {
  static let header = TraceHeader(
    identity: LocalIdentity(node: node(3)), configuration: EngineConfiguration(sessionID: "s", name: "n"),
    seed: 7)

  /// A short trace.
  static func trace(limit: UInt64 = 1 << 20, facts: Int = 20, redacted: Bool = false) -> [UInt8] {
    var engine = SessionEngine(identity: header.identity, configuration: header.configuration, seed: 7)
    engine.startRecording(limit: limit, redacted: redacted)
    var effects: [Effect] = []
    for number in 0..<facts {
      let report = DiscoveryReport.gone(node(UInt8(number % 200)).peer, Incarnation(rawValue: 1))
      engine.handle(
        .discoveryReported(source: "test", report), at: Instant(nanoseconds: UInt64(number)), into: &effects)
    }
    engine.endRecording(.complete)
    return engine.takeRecording()
  }

  /// All records, however the bytes are cut up.
  static func records(_ bytes: [UInt8], step: Int = .max) throws -> [TraceRecord] {
    var decoder = TraceDecoder()
    var records: [TraceRecord] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      decoder.push(rest.prefix(step))
      rest = rest.dropFirst(step)
      while let record = try decoder.next() { records.append(record) }
    }
    return records
  }

  @Test("byte by byte it is the same")
  func cutsDoNotMatter() throws {
    let trace = Self.trace()
    let whole = try Self.records(trace)
    #expect(whole.count == 21)
    #expect(whole.last == .ended(.complete))
    #expect(try Self.records(trace, step: 1) == whole)
    #expect(try Self.records(trace, step: 7) == whole)
  }

  /// Where the parts of a trace begin, and where it ends.
  static func starts(_ trace: [UInt8]) -> [Int] {
    var starts = [TraceHeader.mark.count]
    while let start = starts.last, start < trace.count {
      let count = trace[start..<(start + 4)].reduce(0) { $0 << 8 | Int($1) }
      starts.append(start + count + (starts.count == 1 ? 8 : 10))
    }
    return starts
  }

  @Test("whatever bit of a record was changed is told, and where; a file that was cut off is no damaged one")
  func everyChangeIsFound() throws {
    let trace = Self.trace(facts: 6)
    let starts = Self.starts(trace)
    for place in starts[1]..<trace.count {
      for bit in 0..<8 {
        var changed = trace
        changed[place] ^= 1 << bit
        let start = try #require(starts.last { $0 <= place })
        let error = #expect(throws: TraceError.self) { try Self.records(changed) }
        guard case .damaged(UInt64(start), _)? = error else {
          Issue.record("byte \(place), bit \(bit): \(error.map { "\($0)" } ?? "no error")")
          return
        }
      }
    }
    for count in 0..<trace.count { #expect(throws: Never.self) { try Self.records(Array(trace.prefix(count))) } }
  }

  @Test("a header of which a bit was changed never begins a trace")
  func changedHeaderIsRefused() throws {
    let trace = Self.trace(facts: 6)
    for place in 0..<Self.starts(trace)[1] {
      for bit in 0..<8 {
        var changed = trace
        changed[place] ^= 1 << bit
        #expect((try? Self.records(changed))?.isEmpty ?? true, "byte \(place), bit \(bit)")
      }
    }
  }

  @Test("the checksum is CRC-32")
  func checksum() {
    #expect(TraceChecksum.of("123456789".utf8) == 0xCBF4_3926)
    #expect(TraceChecksum.of([]) == 0)
  }

  @Test("a truncated trace is read as far as it goes")
  func cutTracesAreRead() throws {
    let trace = Self.trace()
    for count in stride(from: 0, to: trace.count, by: 3) {
      #expect(try Self.records(Array(trace.prefix(count))).count <= 20)
    }
  }

  @Test("another file, another version, a record too large, settings that no engine has")
  func othersAreRefused() throws {
    #expect(throws: TraceError.notATrace) { try Self.records(Array("\u{89}PNG".utf8)) }
    var trace = Self.trace()
    let start = TraceHeader.mark.count
    for version in [4, 99] as [UInt8] {
      trace[start + 4] = version
      #expect(throws: TraceError.version(UInt64(version))) { try Self.records(trace) }
    }
    trace[start] = 0xFF
    #expect(
      throws: TraceError.recordTooLarge(UInt64(trace[(start + 1)..<(start + 4)].reduce(0xFF) { $0 << 8 | UInt64($1) }))
    ) {
      try Self.records(trace)
    }
    var wrong = Self.header
    wrong.configuration.capacity = 0
    var recorder = TraceRecorder(wrong, limit: 1 << 20)
    #expect(throws: TraceError.self) { try Self.records(recorder.takeBytes()) }
  }

  @Test("damaged bytes give an error or other records, never more")
  func damageIsHarmless() {
    let trace = Self.trace()
    var random = SeededRandom(seed: 5)
    for _ in 0..<3_000 {
      var damaged = trace
      for _ in 0..<(1 + random.next() % 4) {
        damaged[Int(random.next() % UInt64(damaged.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      _ = try? Self.records(damaged)
    }
  }

  @Test("the recording ends at its limit, and says so")
  func recordingEndsAtItsLimit() throws {
    let whole = Self.trace()
    let short = Self.trace(limit: UInt64(whole.count / 2))
    #expect(short.count <= whole.count / 2 + 32)
    let records = try Self.records(short)
    #expect(records.last == .ended(.sizeLimit))
    #expect(try Self.records(whole).starts(with: records.dropLast()))
  }

  @Test("a redactor blanks contents and nothing else, however the frames are cut", arguments: [1, 2, 3, 5, 1_000])
  func redactorFollowsFrames(step: Int) {
    let frames: [Frame] = [
      .message([1, 2, 3]), .ping(0x1234), .chunk(transfer: 5, [9, 9]), .fragment([7][...]), .message([]),
      .chunk(transfer: 500, Array(repeating: 4, count: 70)[...]), .accept, .unreliableMessage(number: 1, [8, 8]),
      .leave(.left, detail: "bye"),
    ]
    let blank: [Frame] = [
      .message([0, 0, 0]), .ping(0x1234), .chunk(transfer: 5, [0, 0]), .fragment([0][...]), .message([]),
      .chunk(transfer: 500, Array(repeating: 0, count: 70)[...]), .accept, .unreliableMessage(number: 1, [0, 0]),
      .leave(.left, detail: "bye"),
    ]
    var rest = frames.flatMap { FrameEncoder.encode($0) }[...]
    var redactor = FrameRedactor()
    var result: [UInt8] = []
    while !rest.isEmpty {
      result += redactor.redacted(rest.prefix(step))
      rest = rest.dropFirst(step)
    }
    #expect(result == blank.flatMap { FrameEncoder.encode($0) })
  }
}
