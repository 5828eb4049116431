import PiconetSDP
import PiconetWire
import Testing

@Suite("Data elements")
struct DataElementTests {
  /// Bytes worked out by hand from Core 5.4, Vol 3 Part B 3.2 and 3.3.
  static let golden: [(String, DataElement)] = [
    ("00", .null),
    ("08ff", .uint8(255)),
    ("091234", .uint16(0x1234)),
    ("0a00010203", .uint32(0x10203)),
    ("0b0102030405060708", .uint64(0x0102_0304_0506_0708)),
    ("0c000102030405060708090a0b0c0d0e0f", .wide(isSigned: false, Array(0...15))),
    ("10ff", .signed(-1, .one)),
    ("118000", .signed(-32768, .two)),
    ("12fffffffe", .signed(-2, .four)),
    ("13ffffffffffffffff", .signed(-1, .eight)),
    ("14000102030405060708090a0b0c0d0e0f", .wide(isSigned: true, Array(0...15))),
    ("190100", .uuid(BluetoothUUID(short: 0x0100))),
    ("1a00010000", .uuid(BluetoothUUID(short: 0x10000))),
    (
      "1c6f9619ff8b865011b42d00cf4fc964ff",
      .uuid(BluetoothUUID(high: 0x6F96_19FF_8B86_5011, low: 0xB42D_00CF_4FC9_64FF))
    ),
    ("2503616263", .text(Array("abc".utf8))),
    ("2500", .text([])),
    ("2801", .boolean(true)),
    ("2800", .boolean(false)),
    ("350708013503190100", .sequence([.uint8(1), .sequence([.uuid(BluetoothUUID(short: 0x0100))])])),
    ("3d00", .alternative([])),
    ("45027878", .url(Array("xx".utf8))),
  ]

  @Test(arguments: golden.map(\.0).indices.map { $0 })
  func bytesAreReadAndWritten(index: Int) throws {
    let (digits, element) = Self.golden[index]
    let bytes = try #require([UInt8](hexadecimal: digits))
    #expect(try DataElement(decoding: bytes) == element)
    #expect(element.encoded == bytes)
  }

  @Test func longerWaysToWriteALengthAreRead() throws {
    let text = DataElement.text([0x61])
    #expect(try DataElement(decoding: [0x26, 0, 1, 0x61]) == text)
    #expect(try DataElement(decoding: [0x27, 0, 0, 0, 1, 0x61]) == text)
    #expect(try DataElement(decoding: [0x36, 0, 2, 0x08, 7]) == .sequence([.uint8(7)]))
  }

  @Test func aShortUUIDWrittenInFullIsTheSame() throws {
    let uuid = BluetoothUUID(short: 0x0003)
    #expect(try DataElement(decoding: [0x1C] + uuid.bytes) == .uuid(uuid))
    #expect(DataElement.uuid(uuid).encoded == [0x19, 0, 3])
  }

  @Test(arguments: [255, 256, 65000])
  func textTakesTheShortestLength(count: Int) throws {
    let text = DataElement.text([UInt8](repeating: 0x61, count: count))
    #expect(text.encoded.count == count + (count <= 255 ? 2 : 3))
    #expect(try DataElement(decoding: text.encoded) == text)
  }

  @Test(arguments: [
    ("", DataElementFailure.truncated(at: 0)),
    ("08", .truncated(at: 0)),
    ("0b01020304050607", .truncated(at: 0)),
    ("2504616263", .truncated(at: 0)),
    ("27ffffffff61", .truncated(at: 0)),
    ("3503080109", .truncated(at: 4)),
    // The inner sequence claims more than the outer one holds, though there are enough bytes.
    ("350435030801000000", .truncated(at: 2)),
    ("01", .badDescriptor(0x01, at: 0)),
    ("0d00", .badDescriptor(0x0D, at: 0)),
    ("18ff", .badDescriptor(0x18, at: 0)),
    ("1b0000000000000000", .badDescriptor(0x1B, at: 0)),
    ("2000", .badDescriptor(0x20, at: 0)),
    ("2901ff", .badDescriptor(0x29, at: 0)),
    ("3000", .badDescriptor(0x30, at: 0)),
    ("4800", .badDescriptor(0x48, at: 0)),
    ("ff00", .badDescriptor(0xFF, at: 0)),
    ("2802", .badBoolean(at: 0)),
    ("080100", .trailingBytes(1)),
  ])
  func brokenBytesAreRefusedWithTheReason(digits: String, failure: DataElementFailure) throws {
    let bytes = try #require([UInt8](hexadecimal: digits))
    #expect(throws: failure) { try DataElement(decoding: bytes) }
  }

  /// Sequences within sequences, the innermost one empty.
  static func nested(_ depth: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<depth { bytes = [0x36, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes }
    return bytes
  }

  @Test func depthHasALimit() throws {
    #expect(try DataElement(decoding: Self.nested(8)).encoded.isEmpty == false)
    #expect(throws: DataElementFailure.tooDeep) { try DataElement(decoding: Self.nested(9)) }
    #expect(throws: DataElementFailure.tooDeep) { try DataElement(decoding: Self.nested(20_000)) }
  }

  @Test func theNumberOfElementsHasALimit() throws {
    let members = [UInt8](repeating: 0, count: 1023)
    #expect(
      try DataElement(decoding: [0x36, 3, 0xFF] + members) == .sequence([DataElement](repeating: .null, count: 1023)))
    #expect(throws: DataElementFailure.tooManyElements) { try DataElement(decoding: [0x36, 4, 0] + members + [0]) }
  }

  @Test func theWholeHasALimit() {
    let bytes = [UInt8](repeating: 0, count: 65537)
    #expect(throws: DataElementFailure.tooLong(65537)) { try DataElement(decoding: bytes) }
  }

  @Test func hostileBytesNeverCostMoreThanTheLimits() throws {
    var dice = Dice(seed: 7)
    var read = 0
    for _ in 0..<20_000 {
      var bytes = (0..<Int(dice.next() % 40)).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
      // Half of them look like sequences, so that something lies deeper.
      if dice.next() % 2 == 0, bytes.count < 128 { bytes = [0x35, UInt8(bytes.count)] + bytes }
      guard let element = try? DataElement(decoding: bytes) else { continue }
      read += 1
      #expect(try DataElement(decoding: element.encoded) == element)
    }
    #expect(read > 200)
  }
}

/// SplitMix64.
struct Dice {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}
