import PiconetSDP
import PiconetWire
import Testing

@Suite("Records of nodes")
struct NodeRecordTests {
  static let service = BluetoothUUID(high: 0x6F96_19FF_8B86_5011, low: 0xB42D_00CF_4FC9_64FF)

  static func record() throws -> NodeRecord {
    NodeRecord(
      peer: try #require(PeerID(bytes: Array(0..<32))), incarnation: Incarnation(rawValue: 0xFEDC_BA98_7654_3210),
      name: "Zoë's <laptop>", sessionID: "holiday", info: ["role": "sends", "k": "a=b"],
      adapter: BluetoothAddress("00:AA:01:00:00:00"), l2capPSM: 0x1005, rfcommChannel: 22, lePSM: 0x81)
  }

  @Test func aRecordIsReadAsItWasTold() throws {
    let record = try Self.record()
    let list = try record.attributes(of: Self.service)
    let read = try AttributeList(decoding: list.element.encoded)
    #expect(read == list)
    #expect(try NodeRecord(read, of: Self.service) == record)
  }

  @Test func aSmallRecordHasTheseBytes() throws {
    let record = NodeRecord(
      peer: try #require(PeerID(bytes: [UInt8](repeating: 0xAB, count: 32))), incarnation: Incarnation(rawValue: 1),
      name: "n",
      sessionID: "s", rfcommChannel: 3)
    let bytes = try record.attributes(of: Self.service).element.encoded
    let parts = [
      "358c",
      "090001" + "3511" + "1c6f9619ff8b865011b42d00cf4fc964ff",
      "090004" + "350c" + "3503" + "190100" + "3505" + "190003" + "0803",
      "090005" + "3503" + "191002",
      "090006" + "3509" + "09656e" + "09006a" + "090100",
      "090100" + "2501" + "6e",
      "098000" + "0801",
      "098001" + "2520" + String(repeating: "ab", count: 32),
      "098002" + "0b" + "0000000000000001",
      "098003" + "2501" + "73",
      "098006" + "0803",
    ]
    #expect(bytes.hexadecimal.dropFirst(4) == parts.dropFirst().joined())
    #expect(bytes[1] == UInt8(bytes.count - 2))
  }

  @Test func browsersFindTheChannelInTheUsualPlace() throws {
    let list = try Self.record().attributes(of: Self.service)
    let l2cap = DataElement.uuid(BluetoothUUID(short: 0x0100))
    #expect(
      list[0x0004] == .sequence([.sequence([l2cap]), .sequence([.uuid(BluetoothUUID(short: 3)), .uint8(22)])]))
    #expect(list[0x000D] == .sequence([.sequence([.sequence([l2cap, .uint16(0x1005)])])]))
  }

  @Test func withoutRFCOMMTheListNamesL2CAP() throws {
    var record = try Self.record()
    record.rfcommChannel = nil
    let list = try record.attributes(of: Self.service)
    #expect(list[0x0004] == .sequence([.sequence([.uuid(BluetoothUUID(short: 0x0100)), .uint16(0x1005)])]))
    #expect(list[0x000D] == nil)
  }

  /// Changes that break a limit, in words, and why the record must be refused then.
  static let broken: [(String, @Sendable (inout NodeRecord) -> Void, NodeRecordRefusal)] = [
    ("empty name", { $0.name = "" }, .badName("is empty")),
    ("long name", { $0.name = String(repeating: "é", count: 32) }, .badName("has 64 bytes, above 63")),
    ("escape in the name", { $0.name = "a\u{1B}[2J" }, .badName("has a control character")),
    ("C1 in the name", { $0.name = "a\u{9B}2J" }, .badName("has a control character")),
    ("line separator", { $0.name = "a\u{2028}b" }, .badName("has a control character")),
    ("empty session id", { $0.sessionID = "" }, .badSessionID("is empty")),
    (
      "long session id", { $0.sessionID = String(repeating: "s", count: 129) },
      .badSessionID("has 129 bytes, above 128")
    ),
    ("even PSM", { $0.l2capPSM = 0x1010 }, .badPSM),
    ("odd upper byte of the PSM", { $0.l2capPSM = 0x1105 }, .badPSM),
    ("reserved PSM", { $0.l2capPSM = 0x0001 }, .badPSM),
    ("channel 0", { $0.rfcommChannel = 0 }, .badChannel),
    ("channel 31", { $0.rfcommChannel = 31 }, .badChannel),
    ("LE PSM 0", { $0.lePSM = 0 }, .badLEPSM),
    ("LE PSM 0x7f", { $0.lePSM = 0x7F }, .badLEPSM),
    ("LE PSM 0x100", { $0.lePSM = 0x100 }, .badLEPSM),
    ("no address", { $0.adapter = BluetoothAddress(rawValue: 0) }, .badAdapter),
    (
      "long pair", { $0.info = ["k": String(repeating: "v", count: 254)] },
      .badInfo("has a pair of 256 bytes, above 255")
    ),
    (
      "much info", { $0.info = ["a": String(repeating: "v", count: 199), "b": String(repeating: "v", count: 199)] },
      .badInfo("has 402 bytes, above 400")
    ),
    ("empty key", { $0.info = ["": "v"] }, .badInfo("has a key that is not printable ASCII without =")),
    ("key with =", { $0.info = ["a=b": "v"] }, .badInfo("has a key that is not printable ASCII without =")),
    ("keys in two cases", { $0.info = ["a": "1", "A": "2"] }, .badInfo("has two keys that differ in case only")),
    (
      "33 pairs", { $0.info = Dictionary(uniqueKeysWithValues: (0..<33).map { ("\($0)", "") }) },
      .badInfo("has 33 pairs, above 32")
    ),
    ("nowhere to go", { ($0.l2capPSM, $0.rfcommChannel, $0.lePSM) = (nil, nil, nil) }, .noPort),
  ]

  @Test(arguments: broken.indices.map { $0 })
  func whatBreaksALimitIsNotTold(index: Int) throws {
    var record = try Self.record()
    Self.broken[index].1(&record)
    #expect(throws: Self.broken[index].2, "\(Self.broken[index].0)") { try record.attributes(of: Self.service) }
  }

  /// Attributes that no Piconet record has, and why they must be refused.
  static let hostile: [(UInt16, DataElement?, NodeRecordRefusal)] = [
    (0x8000, nil, .badVersion),
    (0x8000, .uint8(2), .badVersion),
    (0x8000, .uint16(1), .badVersion),
    (0x0001, nil, .serviceClassMissing),
    (0x0001, .sequence([.uuid(BluetoothUUID(short: 0x1101))]), .serviceClassMissing),
    (0x8001, .text([UInt8](repeating: 0, count: 31)), .badPeer),
    (0x8001, .uint64(1), .badPeer),
    (0x8002, .uint32(1), .badIncarnation),
    (0x0100, nil, .nameMissing),
    (0x0100, .text([UInt8](repeating: 0x61, count: 60_000)), .badName("is too long or not UTF-8")),
    (0x0100, .text([0xC3]), .badName("is too long or not UTF-8")),
    (0x0100, .text([0x61, 0x00]), .badName("has a control character")),
    (0x8003, .text([0xFF]), .badSessionID("is missing, too long or not UTF-8")),
    (0x8003, nil, .badSessionID("is missing, too long or not UTF-8")),
    (0x8004, .uint64(0x1_0000_0000_0000), .badAdapter),
    (0x8004, .text([1, 2, 3, 4, 5, 6]), .badAdapter),
    (0x8005, .uint16(2), .badPSM),
    (0x8005, .uint32(0x1005), .badPSM),
    (0x8006, .uint8(31), .badChannel),
    (0x8007, .uint16(0x1005), .badLEPSM),
    (0x8008, .text(Array("k=v".utf8)), .badInfo("is not a sequence")),
    (
      0x8008, .sequence([.text(Array("noequals".utf8))]),
      .badInfo("has a pair that is too long, not UTF-8, or without =")
    ),
    (0x8008, .sequence([.text(Array("k=1".utf8)), .text(Array("k=2".utf8))]), .badInfo("has a key twice")),
    (0x8008, .sequence([DataElement](repeating: .text([]), count: 33)), .badInfo("has 33 pairs, above 32")),
  ]

  @Test(arguments: hostile.indices.map { $0 })
  func hostileAttributesAreRefusedWithTheReason(index: Int) throws {
    let (number, element, refusal) = Self.hostile[index]
    var list = try Self.record().attributes(of: Self.service)
    list[number] = element
    #expect(throws: refusal) { try NodeRecord(list, of: Self.service) }
  }

  @Test func listsThatAreNoneAreRefusedWithTheReason() {
    #expect(throws: AttributeList.Failure.notASequence) { try AttributeList(.uint8(1)) }
    #expect(throws: AttributeList.Failure.valueMissing) { try AttributeList(.sequence([.uint16(1)])) }
    #expect(throws: AttributeList.Failure.badNumber) { try AttributeList(.sequence([.uint8(1), .null])) }
    #expect(throws: AttributeList.Failure.numberTwice(1)) {
      try AttributeList(.sequence([.uint16(1), .null, .uint16(1), .null]))
    }
    let many = DataElement.sequence([DataElement](repeating: .sequence([]), count: 65))
    #expect(throws: AttributeList.Failure.tooManyRecords(65)) { try AttributeList.lists(decoding: many.encoded) }
    #expect(throws: AttributeList.Failure.element(.tooDeep)) {
      try AttributeList.lists(decoding: DataElementTests.nested(5000))
    }
  }

  @Test func severalRecordsComeInOneAnswer() throws {
    let list = try Self.record().attributes(of: Self.service)
    let answer = DataElement.sequence([list.element, .sequence([]), list.element])
    #expect(try AttributeList.lists(decoding: answer.encoded) == [list, AttributeList(), list])
  }

  @Test func anyNameCanBecomeARecordsName() {
    #expect(NodeRecord.name(from: "a\u{1B}[2J\r\nb") == "a\u{FFFD}[2J\u{FFFD}b")
    #expect(NodeRecord.name(from: "") == "?")
    #expect(NodeRecord.name(from: String(repeating: "é", count: 60)) == String(repeating: "é", count: 31))
  }
}
