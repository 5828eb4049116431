import PiconetCalls
import Testing

@Suite("JSON for people")
struct JSONTests {
  static let pairs: [(String, CBORValue)] = [
    ("0", .unsigned(0)), ("18446744073709551615", .unsigned(.max)), ("-1", .negative(0)),
    ("-18446744073709551615", .negative(.max - 1)), ("1.5", .float(1.5)), ("1e+300", .float(1e300)),
    ("\"\"", .text("")), ("\"Straße \u{1F600}\"", .text("Straße \u{1F600}")),
    (#""a\"b\\c\nd\te\u0000\u007f\u009b""#, .text("a\"b\\c\nd\te\0\u{7F}\u{9B}")), ("null", .null),
    ("true", .bool(true)), ("false", .bool(false)), ("[]", .array([])), ("{}", .map([])),
    (
      #"[1,[null,{"a":[]}],"b"]"#,
      .array([
        .unsigned(1), .array([.null, .map([.init(.text("a"), .array([]))])]), .text("b"),
      ])
    ),
    (#"{"b":1,"a":2}"#, .map([.init(.text("b"), .unsigned(1)), .init(.text("a"), .unsigned(2))])),
  ]

  @Test("a value and its text are each other's", arguments: pairs)
  func both(text: String, value: CBORValue) throws {
    #expect(value.json == text)
    #expect(try CBORValue(json: text) == value)
  }

  @Test(
    "other spellings are read as the same value",
    arguments: [
      (" \t\r\n[ 1 , 2 ] ", CBORValue.array([.unsigned(1), .unsigned(2)])), ("-0", .unsigned(0)), ("1E2", .float(100)),
      ("-2.5e-1", .float(-0.25)), (#""\/\b\f\r\ud83d\ude00\u00DF""#, .text("/\u{08}\u{0C}\r\u{1F600}ß")),
      ("18446744073709551616", .float(18_446_744_073_709_551_616)),
      ("{ \"a\" : 1 }", .map([.init(.text("a"), .unsigned(1))])),
    ])
  func spelledOtherwise(text: String, value: CBORValue) throws {
    #expect(try CBORValue(json: text) == value)
  }

  @Test("what JSON has no word for is written as RFC 8949, 6.1 says")
  func withoutWord() {
    #expect(CBORValue.negative(.max).json == "-18446744073709551616")
    #expect(CBORValue.float(.infinity).json == "null" && CBORValue.float(.nan).json == "null")
    #expect(CBORValue.simple(23).json == "null" && CBORValue.simple(99).json == "null")
    #expect(CBORValue.tagged(1, .unsigned(7)).json == "7")
    #expect(
      CBORValue.map([.init(.unsigned(7), .null), .init(.array([.text("\"")]), .null)]).json
        == #"{"7":null,"[\"\\\"\"]":null}"#)
  }

  /// Of RFC 4648, section 10, and the two letters in which base64url differs.
  @Test(
    "bytes are base64url without padding, and only that is read as bytes",
    arguments: [
      ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
      ("foobar", "Zm9vYmFy"),
    ])
  func bytes(plain: String, text: String) {
    let value = CBORValue.bytes(Array(plain.utf8))
    #expect(value.json == "\"\(text)\"")
    #expect(CBORValue.bytes(base64URL: text) == value)
    #expect(CBORValue.bytes(base64URL: "-_8") == .bytes([0xFB, 0xFF]))
    for wrong in ["Z", "Zh", "Zg==", "Z g", "+/8", "Zm9vY"] {
      #expect(CBORValue.bytes(base64URL: wrong) == nil, "\(wrong)")
    }
  }

  @Test(
    "a text that is no JSON is refused, with the place of the error",
    arguments: [
      ("", 1), ("nul", 1), ("01", 3), ("1 2", 3), ("[1,]", 4), ("[1", 3), ("{a:1}", 2), (#"{"a" 1}"#, 6),
      (#"{"a":1,"a":2}"#, 11),
      (#"{"a":1"#, 7), ("\"a", 3), ("\"\n\"", 2), (#""\x""#, 3), (#""\u12"#, 4), (#""\ud83d""#, 8),
      (#""\ud83d\u0041""#, 14), ("1.", 3),
      ("1e", 3), ("-", 2), ("+1", 1), (".5", 1), ("1e999", 6), ("Code", 1),
    ])
  func refused(text: String, place: Int) {
    #expect {
      try CBORValue(json: text)
    } throws: { error in
      "\(error)".hasPrefix("no JSON at byte \(place): ")
    }
  }

  @Test("levels without end are refused")
  func levels() throws {
    let allowed = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
    #expect(try CBORValue(json: allowed).json == allowed)
    for text in [String(repeating: "[", count: 100_000), String(repeating: "{\"a\":", count: 100_000)] {
      #expect(throws: CBORError(.limit, "more than 32 levels")) { try CBORValue(json: text) }
    }
  }

  @Test("whatever is between two quotation marks of what was written stays within them")
  func anyText() throws {
    var dice = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      let scalars = (0..<Int.random(in: 0...12, using: &dice)).compactMap { _ in
        Unicode.Scalar(UInt32.random(in: 0...(Bool.random(using: &dice) ? 0xFF : 0x10FFFF), using: &dice))
      }
      let value = CBORValue.text(String(String.UnicodeScalarView(scalars)))
      let text = value.json
      #expect(text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "\(scalars)")
      #expect(try CBORValue(json: text) == value, "\(scalars)")
    }
  }
}
