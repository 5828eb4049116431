import PiconetSDP
import PiconetWire
import Testing

@Suite("What inquiries find")
struct InquiryTableTests {
  static let service = NodeRecordTests.service
  static let device = BluetoothAddress(rawValue: 0x00AA_0100_0000)
  static let other = BluetoothAddress(rawValue: 0x00AA_0101_0001)

  static func response(mark: UInt32 = 1, service: BluetoothUUID = service) throws -> [UInt8] {
    try AdvertisingData([
      AdvertisingData.services128([service]),
      AdvertisingData.serviceData(RecordPointer(psm: 0x1077, mark: mark).bytes, of: service),
    ]).encoded(limit: 240)
  }

  /// A table with one device and one node that were found, after the inquiry has ended.
  static func found() throws -> (InquiryTable, NodeRecord) {
    var table = InquiryTable(service: service)
    let record = try NodeRecordTests.record()
    #expect(table.responded(device, try response()) == [.read(device, psm: 0x1077)])
    #expect(table.answered(device, with: [record]) == [.seen(record, on: device)])
    #expect(table.inquiryEnded() == [])
    return (table, record)
  }

  @Test func aDeviceIsAskedOnceAndAgainWhenItsMarkChanges() throws {
    var (table, record) = try Self.found()
    #expect(table.responded(Self.device, try Self.response()) == [])
    #expect(table.responded(Self.device, try Self.response(mark: 2)) == [.read(Self.device, psm: 0x1077)])
    #expect(table.responded(Self.device, try Self.response(mark: 2)) == [], "it is being asked")
    let old = record
    record.incarnation = Incarnation(rawValue: 2)
    #expect(
      table.answered(Self.device, with: [record]) == [
        .gone(old.peer, old.incarnation), .seen(record, on: Self.device),
      ])
  }

  @Test func aNodeIsLostAfterThreeMissesInARowOnly() throws {
    var (table, record) = try Self.found()
    #expect(table.inquiryEnded() == [])
    #expect(table.inquiryEnded() == [])
    #expect(table.responded(Self.device, try Self.response()) == [])
    for _ in 0..<3 { #expect(table.inquiryEnded() == []) }
    #expect(table.inquiryEnded() == [.gone(record.peer, record.incarnation)])
    #expect(table.count == 0)
    #expect(table.responded(Self.device, try Self.response()) == [.read(Self.device, psm: 0x1077)])
  }

  @Test func anInquiryThatWasBrokenOffMissesNobody() throws {
    var (table, _) = try Self.found()
    for _ in 0..<20 {
      table.inquiryCancelled()
      #expect(table.inquiryEnded() == [])
    }
    #expect(table.count == 1)
  }

  @Test func aDeviceThatDoesNotAnswerIsAskedEverMoreSeldom() throws {
    var table = InquiryTable(service: Self.service)
    var asked: [Int] = []
    for round in 0..<60 {
      if !table.responded(Self.device, try Self.response()).isEmpty {
        asked.append(round)
        #expect(table.answered(Self.device, with: nil) == [])
      }
      _ = table.inquiryEnded()
    }
    #expect(asked == [0, 1, 3, 7, 15, 31, 47])
  }

  @Test func aNodeOnTwoAdaptersIsLostWithTheLastOne() throws {
    var (table, record) = try Self.found()
    _ = table.responded(Self.other, try Self.response())
    #expect(table.answered(Self.other, with: [record]) == [.seen(record, on: Self.other)])
    _ = table.inquiryEnded()
    for _ in 0..<4 {
      _ = table.responded(Self.other, try Self.response())
      #expect(table.inquiryEnded() == [])
    }
    #expect(table.count == 1)
    #expect(table.inquiryEnded() == [])
    #expect(table.inquiryEnded() == [])
    #expect(table.inquiryEnded() == [.gone(record.peer, record.incarnation)])
  }

  @Test func whatIsNotOursIsNotAsked() throws {
    var table = InquiryTable(service: Self.service)
    #expect(table.responded(Self.device, []) == [])
    #expect(table.responded(Self.device, [255, 7, 1]) == [])
    #expect(table.responded(Self.device, try Self.response(service: BluetoothUUID(short: 0x1101))) == [])
    #expect(table.count == 0)
  }

  @Test func aDeviceThatDoesNotSayWhereItsRecordIsIsAskedByWhateverItHasAndAgainLater() throws {
    var table = InquiryTable(service: Self.service)
    let without = try AdvertisingData([AdvertisingData.services128([Self.service])]).encoded(limit: 240)
    var record = try NodeRecordTests.record()
    var asked: [Int] = []
    for round in 0..<10 {
      let effects = table.responded(Self.device, without)
      if effects == [.read(Self.device, psm: nil)] {
        asked.append(round)
        record.incarnation = Incarnation(rawValue: UInt64(round))
        #expect(table.answered(Self.device, with: [record]).last == .seen(record, on: Self.device))
      } else {
        #expect(effects == [])
      }
      #expect(table.inquiryEnded() == [])
    }
    #expect(asked == [0, 4, 8])
  }

  @Test func aCrowdOfDevicesStaysWithinTheLimit() throws {
    var table = InquiryTable(service: Self.service)
    var read = 0
    for number in 0..<500 {
      read += table.responded(BluetoothAddress(rawValue: UInt64(number + 1)), try Self.response()).count
    }
    #expect(read == InquiryTable.deviceLimit)
    #expect(table.count == InquiryTable.deviceLimit)
  }

  @Test func oneDeviceHasAFewNodesAtMost() throws {
    var table = InquiryTable(service: Self.service)
    _ = table.responded(Self.device, try Self.response())
    let record = try NodeRecordTests.record()
    let crowd = (UInt64(0)..<60).map { number in
      var node = record
      node.incarnation = Incarnation(rawValue: number)
      return node
    }
    #expect(table.answered(Self.device, with: crowd).count == InquiryTable.nodeLimit)
  }
}

@Suite("HCI")
struct HCITests {
  @Test func commandsHaveTheseBytes() {
    #expect(HCICommand.inquiry(length: 4).packet == [1, 0x01, 0x04, 5, 0x33, 0x8B, 0x9E, 4, 0])
    #expect(HCICommand.cancelInquiry.packet == [1, 0x02, 0x04, 0])
    #expect(HCICommand.writeScanEnable(3).packet == [1, 0x1A, 0x0C, 1, 3])
    let response = HCICommand.writeInquiryResponse([1, 2], correction: 1).packet
    #expect(response == [1, 0x52, 0x0C, 241, 1, 1, 2] + [UInt8](repeating: 0, count: 238))
    #expect(HCICommand.writeInquiryResponse([UInt8](repeating: 9, count: 300)).parameters.count == 241)
  }

  @Test func eventsAreRead() {
    #expect(
      HCIEvent([4, 0x0E, 5, 1, 0x19, 0x0C, 0, 3])
        == .commandComplete(opcode: 0x0C19, status: 0, parameters: [3]))
    #expect(HCIEvent([4, 0x0F, 4, 0x0C, 1, 0x01, 0x04]) == .commandStatus(opcode: 0x0401, status: 0x0C))
    #expect(HCIEvent([4, 0x01, 1, 0]) == .inquiryComplete)
    let data = [UInt8](repeating: 7, count: 240)
    #expect(
      HCIEvent([4, 0x2F, 255, 1, 0, 0, 0, 1, 0xAA, 0, 1, 0, 1, 2, 3, 4, 5, 0xC4] + data)
        == .response(device: InquiryTableTests.device, signal: -60, data: data))
  }

  @Test(
    arguments: [
      [], [4], [4, 0x0E, 4], [4, 0x0E, 3, 1, 0x19, 0x0C], [4, 0x0E, 9, 1, 0x19, 0x0C, 0, 3], [4, 0x0F, 3, 0, 1, 1],
      [4, 0x01, 0], [4, 0x2F, 2, 1, 2], [2, 0, 0], [4, 0x99, 0],
    ] as [[UInt8]])
  func brokenEventsAreNone(packet: [UInt8]) {
    #expect(HCIEvent(packet) == nil)
  }
}
