import PiconetSDP
import Testing

@Suite("Bluetooth addresses and places")
struct BluetoothAddressTests {
  @Test func anAddressIsReadAndWritten() throws {
    let address = try #require(BluetoothAddress("00:aa:01:0B:00:F1"))
    #expect(address.rawValue == 0x00AA_010B_00F1)
    #expect("\(address)" == "00:AA:01:0B:00:F1")
  }

  @Test(arguments: [
    "", "00:AA:01:00:00", "00:AA:01:00:00:00:00", "0:AA:01:00:00:00", "00:AA:01:00:00:0G", "+0:AA:01:00:00:00",
  ])
  func whatIsNoAddressIsRefused(text: String) {
    #expect(BluetoothAddress(text) == nil)
  }

  @Test(arguments: [
    "00:AA:01:00:00:00", "00:AA:01:00:00:00/0x1005", "00:AA:01:00:00:00/30", "C0:AA:01:00:00:00(random)/0x0081",
  ])
  func aPlaceIsReadAndWritten(text: String) {
    #expect(BluetoothPlace(text)?.description == text)
  }

  @Test(arguments: [
    "00:AA:01:00:00:00/", "00:AA:01:00:00:00/0", "00:AA:01:00:00:00/65536", "00:AA:01:00:00:00/+5", "host/1",
  ])
  func whatIsNoPlaceIsRefused(text: String) {
    #expect(BluetoothPlace(text) == nil)
  }

  @Test func aUUIDIsReadAndWritten() throws {
    let text = "6f9619ff-8b86-5011-b42d-00cf4fc964ff"
    let uuid = try #require(BluetoothUUID(text))
    #expect("\(uuid)" == text)
    #expect(BluetoothUUID(bytes: uuid.bytes) == uuid)
    #expect("\(BluetoothUUID(short: 0x1101))" == "00001101-0000-1000-8000-00805f9b34fb")
  }
}
