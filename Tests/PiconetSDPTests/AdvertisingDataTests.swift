import PiconetSDP
import PiconetWire
import Testing

@Suite("Advertising data and extended inquiry responses")
struct AdvertisingDataTests {
  static let service = NodeRecordTests.service

  @Test func knownStructuresAreRead() throws {
    let digits =
      "020106" + "0302" + "0111" + "0505" + "04030201" + "0309" + "4869" + "0000000000"
    let data = try AdvertisingData(decoding: try #require([UInt8](hexadecimal: digits)))
    #expect(data.flags == 6)
    #expect(data.services == [BluetoothUUID(short: 0x1101), BluetoothUUID(short: 0x0102_0304)])
    #expect(data.name == "Hi")
  }

  @Test func ourResponseHasTheseBytes() throws {
    let data = AdvertisingData([
      AdvertisingData.services128([Self.service]), AdvertisingData.serviceData([1, 2], of: Self.service),
      AdvertisingData.name("Zoë", limit: 63),
    ])
    // Little-endian.
    let uuid = "ff64c94fcf002db41150868bff19966f"
    let bytes = try data.encoded(limit: 240)
    #expect(bytes.hexadecimal == "1107" + uuid + "1321" + uuid + "0102" + "05095a6fc3ab")
    let read = try AdvertisingData(decoding: bytes + [0, 0, 0])
    #expect(read == data)
    #expect(read.services == [Self.service])
    #expect(read.serviceData(of: Self.service) == [1, 2])
    #expect(read.serviceData(of: BluetoothUUID(short: 1)) == nil)
  }

  @Test(
    arguments: [
      ([5, 9, 1], AdvertisingData.Failure.truncated(at: 0)),
      ([2, 1, 6, 255], .truncated(at: 3)),
      ([1], .truncated(at: 0)),
      ([UInt8](repeating: 0, count: 241), .tooLong(241, limit: 240)),
    ] as [([UInt8], AdvertisingData.Failure)])
  func hostileLengthsAreRefusedWithTheReason(bytes: [UInt8], failure: AdvertisingData.Failure) {
    #expect(throws: failure) { try AdvertisingData(decoding: bytes, limit: 240) }
  }

  @Test func oddRestsOfListsDoNotCount() throws {
    let data = try AdvertisingData(decoding: [4, 3, 1, 17, 9, 3, 7, 1, 2, 1, 9])
    #expect(data.services == [BluetoothUUID(short: 0x1101)])
    #expect(data.name == "")
  }

  @Test func aNameThatIsNotUTF8IsNone() throws {
    #expect(try AdvertisingData(decoding: [3, 9, 0xFF, 0xFE]).name == nil)
  }

  @Test func whatDoesNotFitIsRefused() {
    let long = AdvertisingData([AdvertisingData.Structure(type: 0xFF, data: [UInt8](repeating: 0, count: 255))])
    #expect(throws: AdvertisingData.Failure.structureTooLong(type: 0xFF)) { try long.encoded(limit: 1650) }
    let two = AdvertisingData([
      AdvertisingData.services128([Self.service]), AdvertisingData.services128([Self.service]),
    ])
    #expect(throws: AdvertisingData.Failure.tooLong(36, limit: 31)) { try two.encoded(limit: 31) }
    #expect(AdvertisingData.name("Zoë", limit: 3) == AdvertisingData.Structure(type: 8, data: [0x5A, 0x6F]))
  }

  @Test func aPointerIsReadAsItWasWritten() throws {
    let record = try NodeRecordTests.record()
    let pointer = try RecordPointer(psm: 0x1077, to: record, of: Self.service)
    #expect(RecordPointer(pointer.bytes) == pointer)
    #expect(RecordPointer(pointer.bytes + [0]) == pointer)
    #expect(RecordPointer(Array(pointer.bytes.dropLast())) == nil)
    #expect(RecordPointer([2] + pointer.bytes.dropFirst()) == nil)
    #expect(RecordPointer([1, 0x10, 0x76, 0, 0, 0, 0]) == nil)
    var other = record
    other.incarnation = Incarnation(rawValue: 1)
    #expect(try RecordPointer(psm: 0x1077, to: other, of: Self.service).mark != pointer.mark)
  }
}
