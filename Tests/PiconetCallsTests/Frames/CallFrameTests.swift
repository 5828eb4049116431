import PiconetCalls
import Testing

@Suite("Frames of calls")
struct CallFrameTests {
  static let value = CBORValue.text("v").encoded[...]
  static let frames: [CallFrame] = [
    .hello(.init(instance: 7, limits: .usual, asks: true, about: [.init("model", "lamp")])),
    .goodbye(.shuttingDown, "bye"),
    .call(
      .init(
        number: 1, path: "/a/b-c.d", interface: "org.example", version: 2, method: "add(_:to:)", milliseconds: 25_000,
        arguments: [0x82, 0x01, 0x02])),
    .result(number: 1, value: value), .failure(number: .max, CallFailure(.notAllowed, "no")),
    .failure(number: 2, CallFailure(.thrown, "", name: "full", error: CBORValue.map([]).encoded)),
    .cancel(number: 9), .begin(id: 7, total: 100_000, [1, 2, 3]), .next(id: 7, [4]),
    .signal(.init(path: "/", interface: "i", name: "s", value: value, isKept: false)),
    .claim(NameClaim("org.example.lamp", time: 9, [.replaces, .queues])), .release(name: "a"),
    .heard(name: "a", time: .max), .refused(name: "a", time: .max),
  ]

  @Test("each comes back as it was, and no beginning of one is one", arguments: frames)
  func roundTrip(frame: CallFrame) throws {
    let encoded = frame.encoded
    #expect(try CallFrame(decoding: encoded[...]) == frame)
    for count in encoded.indices {
      #expect(throws: CBORError.self) { try CallFrame(decoding: encoded[..<count]) }
    }
    #expect(throws: CBORError.self) { try CallFrame(decoding: (encoded + [0])[...]) }
  }

  @Test("kinds and fields of later versions are passed over")
  func laterVersions() throws {
    #expect(try CallFrame(decoding: octets("831903e7 01 6161")[...]) == .unknown(999))
    #expect(try CallFrame(decoding: octets("83 05 09 8101")[...]) == .cancel(number: 9))
  }

  @Test(
    "what breaks a rule is refused",
    arguments: [
      ("an empty frame", "80"), ("no array", "05"), ("a kind of text", "8161 61"), ("too few fields", "8105"),
      ("a negative number", "82 05 20"), ("a path without its slash", "88 02 01 6161 6169 01 616d 01 80"),
      ("a path that climbs", "88 02 01 642f2f2f61 6169 01 616d 01 80"),
      ("an interface with a space", "88 02 01 612f 6120 01 616d 01 80"),
      ("no time", "88 02 01 612f 6169 01 616d 00 80"), ("two days", "88 02 01 612f 6169 01 616d 1a0a4cb800 80"),
      ("arguments in a map", "88 02 01 612f 6169 01 616d 01 a0"),
      ("limits below the least", "87 00 01 01 19ffff 10 f4 a0"),
      ("an announcement with a number", "87 00 01 01 1a00010000 10 f4 a1616101"),
    ])
  func broken(rule: String, hexadecimal: String) {
    #expect(throws: CBORError.self, "\(rule)") { try CallFrame(decoding: octets(hexadecimal)[...]) }
  }

  @Test("a failure's text is cut between characters")
  func longText() {
    let failure = CallFailure(.thrown, String(repeating: "\u{6c34}", count: 1_000))
    #expect(failure.text.utf8.count == 1_023)
    #expect(CallFailure(.thrown, "short").text == "short")
  }

  @Test("paths and names are told from other texts")
  func pathsAndNames() {
    for path in ["/", "/a", "/a/B.c-d_9", "/" + String(repeating: "x", count: 254)] { #expect(CallLimits.isPath(path)) }
    for path in ["", "a", "//", "/a/", "/a//b", "/ü", "/a b", "/" + String(repeating: "x", count: 255)] {
      #expect(!CallLimits.isPath(path), "\(path)")
    }
    for name in ["a", "org.example.lamp", "add(_:to:)"] { #expect(CallLimits.isName(name)) }
    for name in ["", "()", "a b", "a/b", String(repeating: "x", count: 128)] { #expect(!CallLimits.isName(name)) }
  }
}
