import PiconetEngine
import PiconetSDP
import PiconetWire
import Testing

@Suite("Discovery info that a node may have is told whole by a Bluetooth record")
struct AdvertisedInfoTests {
  /// At the limits of what `DiscoveryInfo` allows.
  static let infos: [[String: String]] = [
    ["k": String(repeating: "x", count: 253), "l": String(repeating: "y", count: 143)],
    [String(repeating: "k", count: 250): "abcd"],
    ["k": String(repeating: "é", count: 126) + "x"],
    Dictionary(uniqueKeysWithValues: (0..<32).map { ("\($0)", String(repeating: "v", count: 9)) }),
    [" ": "=", "a": "", "~": "\u{1}\n<&\"'>", "B": "👨‍👩‍👧‍👦"],
  ]

  @Test("it comes back as it was", arguments: infos)
  func comesBack(info: [String: String]) throws {
    try DiscoveryInfo.validate(info)
    var record = Scene.record(sessionID: String(repeating: "s", count: 127))
    record.info = info
    let list = try record.attributes(of: Scene.service)
    let read = try NodeRecord(AttributeList(decoding: list.element.encoded), of: Scene.service)
    #expect(read.info == info)
  }

  @Test("its limits are those of the record")
  func limits() {
    #expect(DiscoveryInfo.pairLimit == NodeRecord.Limits.pair && DiscoveryInfo.limit == NodeRecord.Limits.info)
    #expect(DiscoveryInfo.pairCount == NodeRecord.Limits.pairs)
  }
}
