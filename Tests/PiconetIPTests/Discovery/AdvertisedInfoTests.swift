import PiconetDNSSD
import PiconetEngine
import Testing

@Suite("DNS-SD carries any discovery info that a node may have")
struct AdvertisedInfoTests {
  /// At the limits of what `DiscoveryInfo` allows.
  static let infos: [[String: String]] = [
    ["k": String(repeating: "x", count: 253), "l": String(repeating: "y", count: 143)],
    [String(repeating: "k", count: 250): "abcd", "i.k": "1", "j.k": "2", "id": "3", "v": "4", "s": "5", "n": "6"],
    ["k": String(repeating: "é", count: 126) + "x"],
    Dictionary(uniqueKeysWithValues: (0..<32).map { ("\($0)", String(repeating: "v", count: 9)) }),
    [" ": "=", "a": "", "~": "\u{1}\n<&\"'>", "B": "👨‍👩‍👧‍👦"],
  ]

  @Test("it comes back as it was", arguments: infos)
  func comesBack(info: [String: String]) throws {
    try DiscoveryInfo.validate(info)
    let text = PeerText(
      peer: [UInt8](repeating: 1, count: 32), incarnation: 1, name: String(repeating: "n", count: 63),
      session: String(repeating: "s", count: 127), info: info)
    #expect(try PeerText(strings: text.strings())?.info == info)
  }

  @Test("its limits are those of the TXT record")
  func limits() {
    #expect(DiscoveryInfo.pairLimit == PeerText.Limits.pair && DiscoveryInfo.limit == PeerText.Limits.info)
    #expect(DiscoveryInfo.pairCount == PeerText.Limits.pairs && DiscoveryInfo.keyLimit == PeerText.Limits.key)
  }
}
