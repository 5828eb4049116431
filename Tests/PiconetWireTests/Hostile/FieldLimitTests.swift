import PiconetWire
import Testing

/// Bodies are put together by hand here: the encoder would not write a field that is too long.
@Suite("Limits of fields, each at its limit and one above")
struct FieldLimitTests {
  private func integer(_ value: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    VariableInteger.append(value, to: &bytes)
    return bytes
  }

  private func field(_ id: UInt64, _ value: [UInt8]) -> [UInt8] { integer(id) + integer(UInt64(value.count)) + value }

  private func isTaken(_ type: UInt8, _ body: [UInt8]) throws -> Bool {
    var bytes: [UInt8] = []
    FrameEncoder.appendHeader(type: type, bodyCount: body.count, to: &bytes)
    do throws(WireError) {
      var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
      decoder.push((bytes + body)[...])
      return try decoder.next() != nil
    } catch {
      guard case .malformed(type, _) = error else { throw error }
      return false
    }
  }

  private func hello(name: Int = 1, sessionID: Int = 1, _ more: [UInt8] = []) throws -> Bool {
    let letters = { [UInt8](repeating: 0x61, count: $0) }
    let incarnation = field(3, [UInt8](repeating: 0, count: 8))
    return try isTaken(
      FrameType.hello, [1, 1] + field(1, letters(sessionID)) + field(2, letters(name)) + incarnation + more)
  }

  @Test func `texts of a hello end at 127 bytes`() throws {
    #expect(try hello(name: 127, sessionID: 127))
    #expect(try !hello(name: 128))
    #expect(try !hello(sessionID: 128))
  }

  @Test func `a greeting ends at 1024 bytes`() throws {
    #expect(try hello(field(16, [UInt8](repeating: 0, count: 1_024))))
    #expect(try !hello(field(16, [UInt8](repeating: 0, count: 1_025))))
  }

  @Test func `a hello may state a frame limit from 1024 bytes on and a silence from 1 s to a day`() throws {
    #expect(try hello(field(6, integer(1024))))
    #expect(try !hello(field(6, integer(1023))))
    #expect(try hello(field(9, integer(1_000))) && hello(field(9, integer(86_400_000))))
    #expect(try !hello(field(9, integer(999))))
    #expect(try !hello(field(9, integer(86_400_001))))
    #expect(try !hello(field(9, integer(VariableInteger.max))))
  }

  @Test func `a frame limit beyond what a length may announce is taken for the most that it may`() throws {
    let body = [1, 1] + field(1, [0x61]) + field(2, [0x61]) + field(3, [UInt8](repeating: 0, count: 8))
    let bytes = body + field(6, integer(VariableInteger.max))
    guard case .hello(let hello)? = try decodeAll([FrameType.hello, UInt8(bytes.count)] + bytes).first else {
      Issue.record("no hello")
      return
    }
    #expect(hello.limits.frame == UInt64(WireLimits.largestFrame))
  }

  @Test func `a hello has at most 64 parameters in ascending order`() throws {
    let unknown = (UInt64(100)..<161).flatMap { field($0, []) }
    #expect(try hello(unknown))
    #expect(try !hello(unknown + field(161, [])))
    #expect(try !hello(field(100, []) + field(100, [])))
    #expect(try !hello(field(101, []) + field(100, [])))
  }

  @Test func `parts of a hello have their exact size`() throws {
    let bytes = { [UInt8](repeating: 1, count: $0) }
    #expect(try hello(field(11, bytes(17))))
    for (id, count) in [(11, 16), (11, 18), (4, 0), (10, 2)] as [(UInt64, Int)] {
      #expect(try !hello(field(id, bytes(count))), "parameter \(id) of \(count) bytes")
    }
  }

  @Test func `a hello of other versions is not judged by the rules of this one`() throws {
    #expect(try isTaken(FrameType.hello, [2, 9, 0xFF, 0xFF]))
    #expect(try isTaken(FrameType.hello, [2, 2]))
    #expect(try !isTaken(FrameType.hello, [1, 9, 0xFF, 0xFF]))
    #expect(try !isTaken(FrameType.hello, [2, 1]))
    #expect(try !isTaken(FrameType.hello, [2]))
  }

  @Test func `a context ends at 8192 bytes`() throws {
    #expect(try isTaken(FrameType.invite, [0, 0] + [UInt8](repeating: 0, count: 32 + 8192)))
    #expect(try !isTaken(FrameType.invite, [0, 0] + [UInt8](repeating: 0, count: 32 + 8193)))
  }

  @Test func `shares and confirmations of a typed code have one length`() throws {
    let zeros = { [UInt8](repeating: 0, count: $0) }
    #expect(try isTaken(FrameType.inviteByCode, [0] + zeros(65 + 8192)))
    #expect(try isTaken(FrameType.inviteByCode, integer(VariableInteger.max) + zeros(65 + 8192)))
    #expect(try !isTaken(FrameType.inviteByCode, [0] + zeros(65 + 8193)))
    #expect(try !isTaken(FrameType.inviteByCode, [0] + zeros(64)))
    #expect(try isTaken(FrameType.codeAnswer, zeros(65 + 32 + 1)))
    #expect(try !isTaken(FrameType.codeAnswer, zeros(65 + 32)))
    #expect(try !isTaken(FrameType.codeAnswer, zeros(65 + 32 + 2)))
    #expect(try isTaken(FrameType.codeConfirm, zeros(32)))
    #expect(try !isTaken(FrameType.codeConfirm, zeros(31)))
    #expect(try !isTaken(FrameType.codeConfirm, zeros(33)))
  }

  @Test func `words behind a reason end at 255 bytes and a reason at 65535`() throws {
    let words = { [UInt8](repeating: 0x61, count: $0) }
    for type in [FrameType.close, FrameType.decline, FrameType.leave] {
      #expect(try isTaken(type, integer(65_535) + words(255)))
      #expect(try !isTaken(type, integer(65_535) + words(256)))
      #expect(try !isTaken(type, integer(65_536)))
    }
    for type in [
      FrameType.declineOffer, FrameType.abandon, FrameType.refuse, FrameType.resetStream, FrameType.stopStream,
    ] {
      #expect(try isTaken(type, [0] + integer(65_535) + words(255)))
      #expect(try !isTaken(type, [0] + integer(65_535) + words(256)))
      #expect(try !isTaken(type, [0] + integer(65_536)))
    }
  }

  @Test func `a transfer number ends at 16383 in every frame that has one`() throws {
    let digest = [0, 1] + [UInt8](repeating: 0, count: 32)
    let rests: [(UInt8, [UInt8])] = [
      (FrameType.chunk, [1]), (FrameType.position, [0]), (FrameType.transferCredit, [0, 0]), (FrameType.end, digest),
      (FrameType.offer, [0, 0]), (FrameType.acceptOffer, [0, 0]), (FrameType.declineOffer, [0]),
      (FrameType.stored, []), (FrameType.abandon, [0]), (FrameType.refuse, [0]),
    ]
    for (type, rest) in rests {
      #expect(try isTaken(type, integer(16_383) + rest), "type \(type)")
      #expect(try !isTaken(type, integer(16_384) + rest), "type \(type)")
    }
  }

  @Test func `a stream number ends at 16383 in every frame that has one`() throws {
    let rests: [(UInt8, [UInt8])] = [
      (FrameType.openStream, []), (FrameType.streamData, [1]), (FrameType.endStream, []), (FrameType.streamDone, []),
      (FrameType.resetStream, [0]), (FrameType.stopStream, [0]), (FrameType.streamCredit, [0]),
    ]
    for (type, rest) in rests {
      #expect(try isTaken(type, integer(16_383) + rest), "type \(type)")
      #expect(try !isTaken(type, integer(16_384) + rest), "type \(type)")
    }
  }

  @Test func `the name of a stream is text and ends at 1024 bytes`() throws {
    let bytes = { [UInt8](repeating: 0x61, count: $0) }
    #expect(try isTaken(FrameType.openStream, [0] + bytes(1024)))
    #expect(try !isTaken(FrameType.openStream, [0] + bytes(1025)))
    #expect(try !isTaken(FrameType.openStream, [0, 0xFF]))
  }

  @Test func `names, media types and metadata of an offer end at their limits`() throws {
    let bytes = { [UInt8](repeating: 0x61, count: $0) }
    let name = { (count: Int) in [0, 0] + self.integer(UInt64(count)) + bytes(count) }
    #expect(try isTaken(FrameType.offer, name(1024)))
    #expect(try !isTaken(FrameType.offer, name(1025)))
    for (id, limit) in [(1, 127), (3, 4096), (4, 64), (5, 2048)] as [(UInt64, Int)] {
      #expect(try isTaken(FrameType.offer, name(0) + field(id, bytes(limit))))
      #expect(try !isTaken(FrameType.offer, name(0) + field(id, bytes(limit + 1))))
    }
    #expect(try !isTaken(FrameType.offer, name(0) + field(2, bytes(7))))
    #expect(try !isTaken(FrameType.offer, name(0) + field(2, bytes(9))))
    let unknown = (UInt64(100)..<164).flatMap { field($0, []) }
    #expect(try isTaken(FrameType.offer, name(0) + unknown))
    #expect(try !isTaken(FrameType.offer, name(0) + unknown + field(164, [])))
    #expect(try !isTaken(FrameType.offer, name(0) + field(3, []) + field(1, [])))
    for type in [FrameType.stored, FrameType.present] {
      #expect(try isTaken(type, [0] + bytes(4096)))
      #expect(try !isTaken(type, [0] + bytes(4097)))
    }
  }

  @Test func `a decoder's limit stays within what a hello may state`() {
    #expect(FrameDecoder(frameLimit: -1).frameLimit == WireLimits.smallestFrame)
    #expect(FrameDecoder(frameLimit: 10_000).frameLimit == 10_000)
    #expect(FrameDecoder(frameLimit: .max).frameLimit == WireLimits.largestFrame)
  }

  @Test func `text is cut at a whole character when it is written`() throws {
    let words = String(repeating: "a", count: WireLimits.detail - 1)
    #expect(try decodeAll(FrameEncoder.encode(.close(.left, detail: words + "é"))) == [.close(.left, detail: words)])
    #expect("abc".prefix(utf8: 3) == "abc")
    #expect("e\u{301}e\u{301}".prefix(utf8: 5) == "e\u{301}")
    #expect("🙂".prefix(utf8: 3).isEmpty)
  }
}
