import PiconetEngine
import Testing

@testable import PiconetDNSSD

@Suite struct MessageTests {
  /// A query for `_piconet._tcp.local`, PTR, QU: every byte of it.
  static let query: [UInt8] = [
    0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
    8, 0x5F, 0x70, 0x69, 0x63, 0x6F, 0x6E, 0x65, 0x74, 4, 0x5F, 0x74, 0x63, 0x70, 5, 0x6C, 0x6F, 0x63, 0x61, 0x6C, 0,
    0, 12, 0x80, 1,
  ]

  /// An answer with PTR, SRV, TXT, A and NSEC, names compressed.
  static let answer: [UInt8] = [
    0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 4,
    // 12: _piconet._tcp.local PTR 120 s, "A" + pointer to 12
    8, 0x5F, 0x70, 0x69, 0x63, 0x6F, 0x6E, 0x65, 0x74, 4, 0x5F, 0x74, 0x63, 0x70, 5, 0x6C, 0x6F, 0x63, 0x61, 0x6C, 0,
    0, 12, 0, 1, 0, 0, 0, 120, 0, 4, 1, 0x41, 0xC0, 12,
    // A._piconet._tcp.local SRV, flush, port 4000, target h.local (pointer to "local" at 26)
    0xC0, 43, 0, 33, 0x80, 1, 0, 0, 0, 120, 0, 10, 0, 0, 0, 0, 0x0F, 0xA0, 1, 0x68, 0xC0, 26,
    // TXT "v=1"
    0xC0, 43, 0, 16, 0x80, 1, 0, 0, 0, 120, 0, 4, 3, 0x76, 0x3D, 0x31,
    // h.local A 10.0.0.1
    0xC0, 65, 0, 1, 0x80, 1, 0, 0, 0, 120, 0, 4, 10, 0, 0, 1,
    // h.local NSEC h.local {A, AAAA}
    0xC0, 65, 0, 47, 0x80, 1, 0, 0, 0, 120, 0, 8, 0xC0, 65, 0, 4, 0x40, 0, 0, 0x08,
  ]

  static func answerMessage() -> DNSMessage {
    let type = ServiceType.piconet.name
    let instance = DomainName(labels: [[0x41]] + type.labels) ?? DomainName()
    let host = DomainName("h.local") ?? DomainName()
    let record = { (name: DomainName, kind: RecordType, flush: Bool, data: RecordData) in
      ResourceRecord(name: name, type: kind, cacheFlush: flush, timeToLive: 120, data: data)
    }
    return DNSMessage(
      flags: 0x8400, answers: [record(type, .ptr, false, .pointer(instance))],
      additionals: [
        record(instance, .srv, true, .service(priority: 0, weight: 0, port: 4000, target: host)),
        record(instance, .txt, true, .text([Array("v=1".utf8)])),
        record(host, .a, true, .address(.v4(0x0A00_0001))),
        record(host, .nsec, true, .nextSecure(host, types: [.a, .aaaa])),
      ])
  }

  @Test func aQueryHasTheseBytes() throws {
    let message = DNSMessage(questions: [Question(name: ServiceType.piconet.name, type: .ptr, wantsUnicast: true)])
    #expect(message.encoded() == Self.query)
    #expect(try DNSMessage(decoding: Self.query) == message)
  }

  @Test func anAnswerHasTheseBytes() throws {
    #expect(Self.answerMessage().encoded() == Self.answer)
    #expect(try DNSMessage(decoding: Self.answer) == Self.answerMessage())
  }

  @Test func everyTruncationIsRefused() {
    for count in 0..<Self.answer.count {
      #expect(throws: MessageFailure.self) { try DNSMessage(decoding: Array(Self.answer.prefix(count))) }
    }
  }

  @Test func aPointerToItselfForwardOrInACircleIsRefused() {
    let header: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    for name: [UInt8] in [[0xC0, 12], [0xC0, 14, 0], [1, 0x41, 0xC0, 12], [0xFF, 0xFF], [0xC0]] {
      #expect(throws: MessageFailure.self) { try DNSMessage(decoding: header + name + [0, 12, 0, 1]) }
    }
    let twoNames: [UInt8] = [0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1, 0x41, 0xC0, 18, 0, 1, 0xC0, 12, 0, 1, 0, 1]
    #expect(throws: MessageFailure.badPointer) { try DNSMessage(decoding: twoNames) }
  }

  @Test func longNamesManyRecordsAndReservedLabelsAreRefused() {
    let header: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    let label = [UInt8](repeating: 0x61, count: 63)
    let four: [UInt8] = [[UInt8]](repeating: [63] + label, count: 4).flatMap { $0 } + [0, 0, 1, 0, 1]
    #expect(throws: MessageFailure.nameTooLong) { try DNSMessage(decoding: header + four) }
    #expect(throws: MessageFailure.badLabel) { try DNSMessage(decoding: header + [0x40, 0, 0, 1, 0, 1]) }
    #expect(throws: MessageFailure.tooManyRecords) {
      try DNSMessage(decoding: [0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0])
    }
    #expect(throws: MessageFailure.tooLong) { try DNSMessage(decoding: [UInt8](repeating: 0, count: 9001)) }
    #expect(DomainName(labels: [label, label, label, label]) == nil)
    #expect(DomainName(labels: [label, label, label, Array(label.prefix(61))]) != nil)
    #expect(DomainName(labels: [[]]) == nil)
  }

  @Test func namesCompareWithoutCaseAndKeepIt() throws {
    let upper = try #require(DomainName("_PICONET._tcp.LOCAL"))
    #expect(upper == ServiceType.piconet.name)
    #expect(upper.hashValue == ServiceType.piconet.name.hashValue)
    #expect(upper.description == "_PICONET._tcp.LOCAL")
    #expect(DomainName(labels: [Array("a.b\\\u{7}".utf8)])?.description == "a\\.b\\\\\\007")
  }

  @Test func unknownTypesAndOptionsComeBackAsTheyWere() throws {
    let message = DNSMessage(
      flags: 0x8400,
      additionals: [
        ResourceRecord(
          name: DomainName(), type: .opt, recordClass: 0x85A0, cacheFlush: false, timeToLive: 0x1194,
          data: .raw([0, 4])),
        ResourceRecord(
          name: ServiceType.piconet.name, type: RecordType(rawValue: 999), cacheFlush: true, timeToLive: 1,
          data: .raw([1, 2, 3])),
      ])
    let bytes = try #require(message.encoded())
    #expect(try DNSMessage(decoding: bytes) == message)
  }

  @Test func twentyThousandMutationsNeverTrapAndWhatIsReadCanBeWritten() {
    var random = SeededRandom(seed: 11)
    var readable = 0
    for round in 0..<20_000 {
      var bytes = round.isMultiple(of: 2) ? Self.answer : Self.query
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: bytes.insert(contentsOf: bytes[index...].prefix(8), at: index)
        default: bytes.removeSubrange(index..<min(bytes.count, index + 3))
        }
        if bytes.isEmpty { bytes = [0] }
      }
      guard let message = try? DNSMessage(decoding: bytes) else { continue }
      readable += 1
      for record in message.answers + message.additionals { #expect(record.name.wire.count < 255) }
      if let again = message.encoded() {
        #expect((try? DNSMessage(decoding: again)) != nil, "\(bytes)")
      }
    }
    #expect(readable > 500)
  }
}
