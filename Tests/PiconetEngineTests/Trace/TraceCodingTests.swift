import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("What a trace holds is read as it was written")
struct TraceCodingTests {
  static func bytes(_ value: some TraceCoded) -> [UInt8] {
    var bytes = TraceBytes()
    value.write(to: &bytes)
    return bytes.bytes
  }

  static func read<Value: TraceCoded>(_ bytes: [UInt8], as type: Value.Type = Value.self) throws -> Value {
    var reader = TraceReader(bytes[...])
    let value = try Value.read(from: &reader)
    try reader.end()
    return value
  }

  /// Every value comes back; every case is among the samples.
  private func check<Value: TraceCoded & Equatable>(_ draw: (inout TraceSamples) -> [Value]) throws {
    var tags: Set<UInt8> = []
    for seed: UInt64 in 0..<300 {
      var samples = TraceSamples(seed: seed)
      for value in draw(&samples) {
        let bytes = Self.bytes(value)
        let back: Value = try Self.read(bytes)
        #expect(back == value)
        tags.insert(bytes[0])
        // A record that was cut off is never taken for a whole one.
        #expect(throws: TraceError.self) { try Self.read(Array(bytes.dropLast()), as: Value.self) }
      }
    }
    #expect(tags == Set(0..<UInt8(tags.count)))
    let beyond = TraceError.malformed("no case has the tag \(tags.count)")
    #expect(throws: beyond, "a case has no sample in TraceSamples") {
      try Self.read([UInt8(tags.count)], as: Value.self)
    }
  }

  @Test("every fact") func facts() throws { try check { $0.facts() } }
  @Test("every effect") func effects() throws { try check { $0.effects() } }
  @Test("every event") func events() throws { try check { $0.events() } }
  @Test("every command") func commands() throws { try check { $0.commands() } }
  @Test("every reply") func replies() throws { try check { $0.replies() } }
  @Test("every end of a link") func linkEnds() throws { try check { $0.linkEnds() } }
  @Test("every judgement") func judgements() throws { try check { $0.judgements() } }
  @Test("every report") func reports() throws { try check { $0.reports() } }
  @Test("every target") func targets() throws { try check { $0.targets() } }

  @Test("settings, none of them forgotten")
  func settings() throws {
    var settings = EngineConfiguration(sessionID: "a", name: "b")
    settings.capacity = 3
    settings.messageLimit = 1_001
    settings.messageWindow = 2_002
    settings.frameLimit = 3_003
    settings.transferLimit = 4
    settings.transferWindow = 5_005
    settings.transferMemory = 6_006
    settings.smallestTransferWindow = 7
    settings.readSize = 8_008
    settings.transmitWindow = 9_009
    settings.disconnectTimeout = .seconds(10)
    settings.handshakeTimeout = .seconds(11)
    settings.idleTimeout = .seconds(12)
    settings.leaveTimeout = .milliseconds(13)
    settings.handshakeLimit = 14
    settings.associationLimit = 15
    settings.sightingLimit = 16
    settings.transports = [.rfcomm, .tcp]
    settings.transportHeadStart = .milliseconds(17)
    settings.removals = .nobody
    settings.deliversLateMessages = true
    settings.streamLimit = 18
    settings.streamWindow = 19
    settings.firstStreamWindow = 20
    settings.streamMemory = 21
    settings.movesBetweenTransports = false
    settings.idleMemberTimeout = .seconds(22)
    settings.openInvitations = 23
    settings.greeting = [24]
    settings.channelLimit = 25
    settings.channelWindow = 26_026
    settings.channelPriorities = [1: .high, 63: .low]
    settings.membership = .group
    settings.relaying = RelayQuotas()
    settings.relaying?.tunnels = 27
    settings.relaying?.tunnelsPerMember = 28
    settings.relaying?.rate = 29_029
    settings.relaying?.memberRate = 30_030
    settings.holdsIntroducedInvitations = false
    settings.comparesCodes = true
    settings.refusalEndsMembers = true
    settings.introducesOverLoopback = true
    #expect(try Self.read(Self.bytes(settings)) == settings)
    #expect(Mirror(reflecting: settings).children.count == 40, "a new setting belongs into EngineConfiguration+Trace")
  }

  @Test("numbers of 64 bits, and none of more")
  func numbers() throws {
    for value: UInt64 in [0, 1, 127, 128, 16_383, 16_384, 1 << 62, .max] {
      #expect(try Self.read(Self.bytes(value)) == value)
    }
    #expect(throws: TraceError.self) { try Self.read([UInt8](repeating: 0xFF, count: 10), as: UInt64.self) }
    #expect(throws: TraceError.self) {
      try Self.read([UInt8](repeating: 0x80, count: 9) + [2], as: UInt64.self)
    }
  }
}
