import PiconetCalls
import Testing

/// Bytes from hexadecimal digits; spaces are for reading.
func octets(_ hexadecimal: String) -> [UInt8] {
  let digits = hexadecimal.compactMap { $0.hexDigitValue.map(UInt8.init) }
  return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

@Suite("CBOR")
struct CBORTests {
  /// Of RFC 8949, appendix A: what is in the preferred serialization.
  static let examples: [(String, CBORValue)] = [
    ("00", .unsigned(0)), ("01", .unsigned(1)), ("0a", .unsigned(10)), ("17", .unsigned(23)), ("1818", .unsigned(24)),
    ("1819", .unsigned(25)), ("1864", .unsigned(100)), ("1903e8", .unsigned(1_000)),
    ("1a000f4240", .unsigned(1_000_000)), ("1b000000e8d4a51000", .unsigned(1_000_000_000_000)),
    ("1bffffffffffffffff", .unsigned(.max)), ("3bffffffffffffffff", .negative(.max)), ("20", .integer(-1)),
    ("29", .integer(-10)), ("3863", .integer(-100)), ("3903e7", .integer(-1_000)),
    ("f90000", .float(0)), ("f98000", .float(-0.0)), ("f93c00", .float(1)), ("fb3ff199999999999a", .float(1.1)),
    ("f93e00", .float(1.5)), ("f97bff", .float(65_504)), ("fa47c35000", .float(100_000)),
    ("fa7f7fffff", .float(3.4028234663852886e+38)), ("fb7e37e43c8800759c", .float(1.0e+300)),
    ("f90001", .float(5.960464477539063e-8)), ("f90400", .float(0.00006103515625)), ("f9c400", .float(-4)),
    ("fbc010666666666666", .float(-4.1)), ("f97c00", .float(.infinity)), ("f9fc00", .float(-.infinity)),
    ("f4", .bool(false)), ("f5", .bool(true)), ("f6", .null), ("f7", .simple(23)), ("f0", .simple(16)),
    ("f8ff", .simple(255)), ("c11a514b67b0", .tagged(1, .unsigned(1_363_896_240))),
    ("d818456449455446", .tagged(24, .bytes(octets("6449455446")))), ("40", .bytes([])),
    ("4401020304", .bytes([1, 2, 3, 4])), ("60", .text("")), ("6161", .text("a")), ("6449455446", .text("IETF")),
    ("62225c", .text("\"\\")), ("62c3bc", .text("\u{fc}")), ("63e6b0b4", .text("\u{6c34}")),
    ("64f0908591", .text("\u{10151}")), ("80", .array([])),
    ("83010203", .array([.unsigned(1), .unsigned(2), .unsigned(3)])),
    (
      "8301820203820405",
      .array([.unsigned(1), .array([.unsigned(2), .unsigned(3)]), .array([.unsigned(4), .unsigned(5)])])
    ),
    ("a0", .map([])), ("a201020304", .map([.init(.unsigned(1), .unsigned(2)), .init(.unsigned(3), .unsigned(4))])),
    (
      "a26161016162820203",
      .map([.init(.text("a"), .unsigned(1)), .init(.text("b"), .array([.unsigned(2), .unsigned(3)]))])
    ),
  ]

  @Test("the RFC's examples are read, and written as they are there", arguments: examples)
  func rfcExample(hexadecimal: String, value: CBORValue) throws {
    #expect(try CBORValue(decoding: octets(hexadecimal)) == value)
    #expect(value.encoded == octets(hexadecimal))
    var reader = CBORReader(octets(hexadecimal))
    #expect(try reader.skip().elementsEqual(octets(hexadecimal)))
  }

  @Test("strings, arrays and maps without a length are read, and longer forms of numbers")
  func otherForms() throws {
    let same: [(String, String)] = [
      ("5f42010243030405ff", "450102030405"), ("7f657374726561646d696e67ff", "6973747265616d696e67"), ("9fff", "80"),
      ("9f018202039f0405ffff", "8301820203820405"), ("bf61610161629f0203ffff", "a26161016162820203"),
      ("1b0000000000000001", "01"), ("fb3ff0000000000000", "f93c00"),
    ]
    for (long, short) in same {
      #expect(try CBORValue(decoding: octets(long)).encoded == octets(short), "\(long)")
      var reader = CBORReader(octets(long))
      _ = try reader.skip()
      #expect(reader.isAtEnd)
    }
    #expect(try CBORValue(decoding: octets("f97e00")).encoded == octets("f97e00"), "not a number")
  }

  /// Of RFC 8949, appendix F, and rules of our own.
  @Test(
    "what is not well-formed is refused",
    arguments: [
      "1c", "3d", "5e", "7e", "9c", "bd", "dc", "fc", "1f", "3f", "df", "ff", "8300", "9fff00", "f818", "f81f",
      "62c328",
      "5f6100ff", "5f5f4100ffff", "7f4100ff", "bf00ff", "a201010102", "", "18", "19ff", "42ff", "9f", "c0", "0000",
    ])
  func malformed(hexadecimal: String) {
    #expect(throws: CBORError.self) { try CBORValue(decoding: octets(hexadecimal)) }
  }

  @Test("no beginning of an item is one")
  func truncated() {
    for (hexadecimal, _) in Self.examples {
      let whole = octets(hexadecimal)
      for count in 0..<whole.count {
        #expect(throws: CBORError.self) { try CBORValue(decoding: Array(whole[..<count])) }
        var reader = CBORReader(Array(whole[..<count]))
        #expect(throws: CBORError.self) { try reader.skip() }
      }
    }
  }

  @Test("depth and number of items have limits, whatever an item announces")
  func limits() throws {
    let deep = { (depth: Int) in [UInt8](repeating: 0x81, count: depth) + [0x00] }
    _ = try CBORValue(decoding: deep(32))
    var reader = CBORReader(deep(32))
    _ = try reader.skip()
    for bomb in [
      deep(33), deep(1_000_000), [UInt8](repeating: 0xD0, count: 1_000_000), [UInt8](repeating: 0xBF, count: 90),
    ] {
      #expect { try CBORValue(decoding: bomb) } throws: { ($0 as? CBORError)?.code == .limit }
      var reader = CBORReader(bomb)
      #expect { try reader.skip() } throws: { ($0 as? CBORError)?.code == .limit }
    }
    let limits = CBORLimits(depth: 4, items: 10)
    _ = try CBORValue(decoding: [0x89] + [UInt8](repeating: 0, count: 9), limits: limits)
    #expect { try CBORValue(decoding: [0x8A] + [UInt8](repeating: 0, count: 10), limits: limits) } throws: {
      ($0 as? CBORError)?.code == .limit
    }
    for huge in ["9bffffffffffffffff00", "bbffffffffffffffff0000", "5bffffffffffffffff00", "7affffffff00"] {
      #expect(throws: CBORError.self) { try CBORValue(decoding: octets(huge)) }
    }
  }

  struct Point: Codable, Hashable {
    var x: Int
    var y: Double
    var name: String?
    var tags: [String: [UInt8]]
    var more: [Point]
  }

  enum Shape: Codable, Hashable {
    case circle(radius: Double)
    case none
  }

  static func again<Value: Codable>(_ value: Value) throws -> Value {
    var writer = CBORWriter()
    try CBOREncoder().encode(value, into: &writer)
    var reader = CBORReader(writer.bytes)
    defer { #expect(reader.isAtEnd) }
    return try CBORDecoder().decode(Value.self, from: &reader)
  }

  @Test("values of Codable types come back as they were")
  func codable() throws {
    let inner = Point(x: -3, y: 0.1, name: nil, tags: [:], more: [])
    let point = Point(x: .max, y: -1.5, name: "p", tags: ["a": [1, 2, 3], "b": []], more: [inner, inner])
    #expect(try Self.again(point) == point)
    #expect(try Self.again([Shape.circle(radius: 2), .none]) == [.circle(radius: 2), .none])
    #expect(try Self.again([Int.min, 0, .max]) == [.min, 0, .max])
    #expect(try Self.again([UInt64.max]) == [.max])
    #expect(try Self.again([1: "a", -2: "b"]) == [1: "a", -2: "b"])
    #expect(try Self.again([UInt8]([0, 255])) == [0, 255])
    #expect(try Self.again([[UInt8]]()) == [])
    #expect(try Self.again(Optional<Int>.none) == nil)
    #expect(try Self.again([Float(0.1), .infinity]) == [0.1, .infinity])
    #expect(try Self.again(true) == true)
    #expect(try Self.again("\u{6c34}") == "\u{6c34}")
    #expect(try Self.again(CBORValue.tagged(9, .text("t"))) == .tagged(9, .text("t")))
  }

  @Test("a structure is a map with keys of text, bytes are bytes, nil is null")
  func shape() throws {
    struct Pair: Codable { var a: [UInt8]; var b: [Int?] }
    let item = try CBOREncoder().value(of: Pair(a: [1], b: [nil, 2]))
    #expect(item.encoded == octets("a2 6161 4101 6162 82f602"))
  }

  @Test("a number that the type can't hold, another kind of item or a missing key is an error, and no crash")
  func mismatches() {
    func decode<Value: Decodable>(_ type: Value.Type, _ item: CBORValue) throws -> Value {
      try CBORDecoder().decode(type, from: item)
    }
    #expect(throws: DecodingError.self) { try decode(UInt8.self, .unsigned(256)) }
    #expect(throws: DecodingError.self) { try decode(UInt.self, .integer(-1)) }
    #expect(throws: DecodingError.self) { try decode(Int.self, .unsigned(.max)) }
    #expect(throws: DecodingError.self) { try decode(Int.self, .negative(.max)) }
    #expect(throws: DecodingError.self) { try decode(Int.self, .float(1)) }
    #expect(throws: DecodingError.self) { try decode(String.self, .bytes([])) }
    #expect(throws: DecodingError.self) { try decode(Point.self, .map([.init(.text("x"), .unsigned(1))])) }
    #expect(throws: DecodingError.self) { try decode(Point.self, .array([])) }
    #expect(throws: DecodingError.self) { try decode([String: Int].self, .map([.init(.bytes([1]), .unsigned(1))])) }
    #expect(throws: DecodingError.self) { try decode([Int].self, .null) }
  }

  struct Endless: Encodable {
    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encode(Endless())
    }
  }

  @Test("a value that encodes itself without end is refused")
  func endless() {
    #expect(throws: EncodingError.self) { try CBOREncoder().value(of: Endless()) }
  }
}
