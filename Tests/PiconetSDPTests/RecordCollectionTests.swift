import PiconetSDP
import Testing

@Suite("Answers of SDP servers")
struct RecordCollectionTests {
  static func packet(_ parameters: [UInt8], kind: UInt8 = 7, transaction: UInt16 = 5) -> [UInt8] {
    [
      kind, UInt8(transaction >> 8), UInt8(transaction & 0xFF), UInt8(parameters.count >> 8),
      UInt8(parameters.count & 0xFF),
    ]
      + parameters
  }

  static func part(_ bytes: [UInt8], continuation: [UInt8] = []) -> [UInt8] {
    packet([UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes + [UInt8(continuation.count)] + continuation)
  }

  @Test func partsArePutTogether() throws {
    let list = try NodeRecordTests.record().attributes(of: NodeRecordTests.service)
    let bytes = DataElement.sequence([list.element]).encoded
    var collection = RecordCollection()
    for byte in bytes.dropLast() {
      // Every part is one byte, and the limit is 128 parts.
      if collection.received(Self.part([byte], continuation: [1]), transaction: 5) != .askOn {
        #expect(bytes.count > RecordCollection.Limits.parts)
        break
      }
    }
    collection = RecordCollection()
    #expect(collection.received(Self.part(Array(bytes.prefix(50)), continuation: [9, 9]), transaction: 5) == .askOn)
    #expect(collection.received(Self.part(Array(bytes.dropFirst(50))), transaction: 5) == .done([list]))
  }

  @Test(arguments: [
    (part([0x35, 0]) + [0], SDPResponse.Failure.badLength(said: 5, is: 6)),
    ([], .truncated),
    ([7, 0, 5, 0], .truncated),
    (packet([0, 2]), .truncated),
    (packet([0, 2, 0x35, 0]), .truncated),
    (packet([0xFF, 0xFF, 0]), .truncated),
    (packet([0, 0, 2, 1]), .badLength(said: 5, is: 4)),
    (packet([0, 0, 1, 1, 1]), .badLength(said: 4, is: 5)),
    (packet([0, 0, 17] + [UInt8](repeating: 1, count: 17)), .badContinuation(17)),
    (packet([0, 0, 0], transaction: 6), .wrongTransaction(6)),
    (packet([0, 0, 0], kind: 6), .badKind(6)),
    (packet([0], kind: 1), .truncated),
  ])
  func brokenPacketsAreRefusedWithTheReason(packet: [UInt8], failure: SDPResponse.Failure) {
    var collection = RecordCollection()
    #expect(collection.received(packet, transaction: 5) == .failed(.response(failure)))
  }

  @Test func theWholeAnswerHasLimits() {
    var collection = RecordCollection()
    let big = Self.part([UInt8](repeating: 0, count: 30_000), continuation: [1])
    #expect(collection.received(big, transaction: 5) == .askOn)
    #expect(collection.received(big, transaction: 5) == .askOn)
    #expect(collection.received(big, transaction: 5) == .failed(.tooLong))
    collection = RecordCollection()
    let small = Self.part([0], continuation: [1])
    for _ in 1..<RecordCollection.Limits.parts { #expect(collection.received(small, transaction: 5) == .askOn) }
    #expect(collection.received(small, transaction: 5) == .failed(.tooManyParts))
    collection = RecordCollection()
    #expect(collection.received(Self.part([], continuation: [1]), transaction: 5) == .failed(.emptyPart))
    #expect(collection.received(Self.packet([0, 4], kind: 1), transaction: 5) == .failed(.refused(code: 4)))
  }

  @Test func recordsOfOthersArePassedOverWithTheReason() throws {
    let record = try NodeRecordTests.record()
    let device = try #require(record.adapter)
    var elsewhere = record
    elsewhere.adapter = BluetoothAddress(rawValue: 5)
    var foreign = record
    foreign.sessionID = "work"
    let service = NodeRecordTests.service
    let lists = try [elsewhere, foreign, record, record].map { try $0.attributes(of: service) } + [AttributeList()]
    let selection = RecordSelection(
      from: lists, service: service, sessionID: "holiday", device: BluetoothPlace(device: device))
    #expect(selection.records == [record])
    #expect(
      selection.passedOver == [
        "listens on another adapter, 00:00:00:00:00:05", "another session", "the version is missing or not 1",
      ])
  }

  @Test func behindARandomAddressTheAdapterHasAnotherOneAndCounts() throws {
    let record = try NodeRecordTests.record()
    let service = NodeRecordTests.service
    let place = BluetoothPlace(device: BluetoothAddress(rawValue: 0x7A_0000_0001), isRandom: true)
    let lists = [try record.attributes(of: service)]
    #expect(
      RecordSelection(from: lists, service: service, sessionID: nil, device: place).records == [record])
    #expect(
      RecordSelection(from: lists, service: service, sessionID: nil, device: BluetoothPlace(device: place.device))
        .records
        .isEmpty)
  }
}
