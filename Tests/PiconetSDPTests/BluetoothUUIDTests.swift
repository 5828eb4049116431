import PiconetSDP
import PiconetWire
import Testing

@Suite("UUIDs of version 5")
struct BluetoothUUIDTests {
  /// RFC 9562, appendix A.4.
  @Test func theExampleOfTheStandardComesOut() throws {
    let digest = try #require([UInt8](hexadecimal: "2ed6657de927468b55e12665a8aea6a22dee3e35"))
    #expect(BluetoothUUID(version5: digest)?.description == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
  }

  @Test func tooShortADigestGivesNone() {
    #expect(BluetoothUUID(version5: [UInt8](repeating: 0, count: 15)) == nil)
  }

  @Test func onlyUUIDsOnTheBaseAreShort() {
    #expect(BluetoothUUID(short: 0x1101).short == 0x1101)
    #expect(BluetoothUUID(short: 0xFFFF_FFFF).short == 0xFFFF_FFFF)
    #expect(NodeRecordTests.service.short == nil)
  }
}
