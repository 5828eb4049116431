import PiconetBluetooth
import PiconetSDP
import Testing

@Suite("UUIDs of sessions")
struct SessionUUIDTests {
  /// RFC 9562, appendix A.4: the name www.example.com in the namespace of DNS.
  @Test func theExampleOfTheStandardComesOut() throws {
    let namespace = try #require(BluetoothUUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
    let uuid = try BluetoothUUID.version5(namespace: namespace, name: "www.example.com".utf8)
    #expect(uuid.description == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
  }

  @Test func aSessionHasAlwaysTheSameUUIDAndEachItsOwn() throws {
    let uuid = try BluetoothUUID.session("holiday")
    #expect(try uuid == BluetoothUUID.session("holiday"))
    #expect(try uuid != BluetoothUUID.session("holidays"))
    #expect(uuid.high >> 12 & 0xF == 5)
    #expect(uuid.low >> 62 == 2)
    // Nodes of all versions must come to the same one.
    #expect(uuid.description == "229b6b3e-2c0d-5d36-a5e8-121b1cd4b7e4")
  }
}
