import PiconetSDP
import PiconetWire
import Testing

@Suite("Records of several nodes on one channel")
struct RecordBundleTests {
  /// The record of a node in a session of its own.
  private static func record(_ number: Int, info: [String: String] = [:]) throws -> NodeRecord {
    NodeRecord(
      peer: try #require(PeerID(bytes: [UInt8](repeating: UInt8(number), count: 32))),
      incarnation: Incarnation(rawValue: UInt64(number)), name: "node \(number)", sessionID: "session \(number)",
      info: info, adapter: BluetoothAddress("00:AA:01:00:00:00"), l2capPSM: 0x1005)
  }

  private static func service(_ number: Int) -> BluetoothUUID {
    BluetoothUUID(high: 0x6F96_19FF_8B86_5011, low: 0xB42D_00CF_4FC9_0000 + UInt64(number))
  }

  @Test("ten nodes fit into one answer, in which a reader finds that of its session, and no other")
  func ten() throws {
    let records = try (0..<10).map { try Self.record($0) }
    let bundles = RecordBundle.bundles(
      of: try records.enumerated().map { try $1.attributes(of: Self.service($0)) }, limit: 4096)
    #expect(bundles.map(\.count) == [10] && bundles[0].bytes.count <= 4096)
    let told = try AttributeList.lists(decoding: bundles[0].bytes)
    let device = BluetoothPlace(device: try #require(BluetoothAddress("00:AA:01:00:00:00")))
    for (number, record) in records.enumerated() {
      let found = RecordSelection(
        from: told, service: Self.service(number), sessionID: "session \(number)", device: device)
      #expect(found.records == [record] && found.passedOver.count == 9)
    }
  }

  @Test(
    "what does not fit goes into another answer, in order, and each is one that a reader takes", arguments: [0, 380])
  func many(infoLength: Int) throws {
    let info =
      infoLength == 0 ? [:] : ["a": String(repeating: "x", count: 200), "b": String(repeating: "y", count: 180)]
    let lists = try (0..<100).map { try Self.record($0, info: info).attributes(of: Self.service($0)) }
    let bundles = RecordBundle.bundles(of: lists, limit: 4096)
    #expect(bundles.count > 1 && bundles.map(\.count).reduce(0, +) == 100)
    #expect(bundles.allSatisfy { $0.bytes.count <= 4096 })
    #expect(try bundles.flatMap { try AttributeList.lists(decoding: $0.bytes) } == lists)
    #expect(RecordBundle.bundles(of: [], limit: 4096).isEmpty)
  }
}
