import PiconetEngine
import Testing

@testable import PiconetDNSSD

@Suite struct PeerTextTests {
  static let peer = (0..<32).map { UInt8($0) }
  static let text = PeerText(
    peer: peer, incarnation: 0xAB, name: "Anna's laptop", session: "piconet", info: ["role": "receiver", "n": "5"])

  static func strings(_ pairs: String...) -> [[UInt8]] { pairs.map { Array($0.utf8) } }
  static let required = strings(
    "v=1", "id=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "inc=00000000000000ab")

  @Test func theStringsAreTheseAndComeBack() throws {
    let strings = try Self.text.strings()
    #expect(
      strings == Self.required + Self.strings("n=Anna's laptop", "s=piconet", "i.n=5", "i.role=receiver"))
    #expect(PeerText(strings: strings) == Self.text)
  }

  @Test func theFirstOfDoubledKeysCountsWhateverItsCase() {
    let text = PeerText(strings: Self.required + Self.strings("N=first", "n=second", "i.K=1", "i.k=2", "=x", "flag"))
    #expect(text?.name == "first")
    #expect(text?.info == ["K": "1"])
  }

  @Test func missingOrWrongIdentityIsRefused() {
    for index in Self.required.indices {
      var strings = Self.required
      strings.remove(at: index)
      #expect(PeerText(strings: strings) == nil)
    }
    #expect(PeerText(strings: Self.strings("v=2") + Self.required) == nil)
    #expect(PeerText(strings: Self.strings("id=zz") + Self.required) == nil)
    #expect(PeerText(strings: []) == nil)
  }

  @Test func hostileNamesAreMadeHarmless() {
    let text = PeerText(strings: Self.required + [Array("n=a\u{1B}[2J\n\u{202E}b".utf8), Array("s=".utf8) + [0xFF]])
    #expect(text?.name == "a\u{FFFD}[2J\u{FFFD}\u{FFFD}b")
    #expect(text?.session == "\u{FFFD}")
    #expect(PeerText(strings: Self.required + [Array("i.k=".utf8) + [0xFF]])?.info == [:])
  }

  @Test func tooMuchInfoIsRefusedWithItsReason() {
    #expect(PeerText.failure(of: ["": "x"]) == .badKey(""))
    #expect(PeerText.failure(of: ["a=b": "x"]) == .badKey("a=b"))
    #expect(PeerText.failure(of: ["k": String(repeating: "x", count: 254)]) == .pairTooLong("k"))
    #expect(PeerText.failure(of: ["k": String(repeating: "x", count: 253)]) == nil)
    let key = String(repeating: "k", count: 251)
    #expect(PeerText.failure(of: [key: ""]) == .keyTooLong(key))
    #expect(PeerText.failure(of: [String(key.dropLast()): "xxxx"]) == nil)
    #expect(PeerText.failure(of: ["K": "1", "k": "2"]) == .doubledKey("k"))
    let long = String(repeating: "x", count: 199)
    #expect(PeerText.failure(of: ["a": long, "b": long]) == .infoTooLong)
    let many = Dictionary(uniqueKeysWithValues: (0..<33).map { ("\($0)", "") })
    #expect(PeerText.failure(of: many) == .tooManyPairs)
  }

  @Test func aPairOfTheFullLengthComesBack() throws {
    for info in [
      // Its second string begins in the middle of a character.
      ["k": String(repeating: "é", count: 126) + "x", "L": "1"],
      [String(repeating: "k", count: 250): "éé", "l": String(repeating: "y", count: 143)],
      ["j.k": "v", "i.k": "w", "K": String(repeating: "z", count: 253)],
    ] {
      var text = Self.text
      text.info = info
      let strings = try text.strings()
      #expect(strings.allSatisfy { $0.count <= 255 })
      #expect(PeerText(strings: strings) == text)
    }
  }

  @Test func aRestWithoutItsPairAndOneThatIsTooLongAreLeftOut() {
    let long = [UInt8](repeating: 0x78, count: 200)
    let text = PeerText(
      strings: Self.required + Self.strings("j.a=rest", "i.c=1") + [
        Array("i.b=".utf8) + long, Array("j.b=".utf8) + long,
      ])
    #expect(text?.info == ["c": "1"])
  }

  @Test func aLabelIsCutAtACharacter() {
    let family = "👨‍👩‍👧‍👦"
    let label = InstanceLabel.make(name: String(repeating: family, count: 5), identifier: "3f2a9c00")
    #expect(label.count <= 63)
    #expect(String(decoding: label, as: UTF8.self) == family + family + " (3f2a9c)")
    #expect(
      String(decoding: InstanceLabel.renamed(label, attempt: 2), as: UTF8.self).hasSuffix("(3f2a9c) (2)")
        || label.count > 59)
    #expect(InstanceLabel.renamed([UInt8](repeating: 0x61, count: 63), attempt: 12).count == 63)
  }

  @Test func randomStringsNeverTrap() {
    var random = SeededRandom(seed: 1)
    for _ in 0..<3000 {
      let strings = (0..<Int.random(in: 0...5, using: &random)).map { _ in
        (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      }
      let text = PeerText(strings: Self.required + strings)
      #expect(text?.peer == Self.peer)
    }
  }

  @Test func addressesReadAsRFC5952Says() {
    #expect(IPAddress.v4(0x7F00_0001).description == "127.0.0.1")
    #expect(IPAddress.v6(high: 0, low: 1).description == "::1")
    #expect(IPAddress.v6(high: 0xFE80_0000_0000_0000, low: 0x0001_0000_0000_0001).description == "fe80::1:0:0:1")
    #expect(IPAddress.v6(high: 0x2001_0DB8_0000_0001, low: 0x0001_0001_0001_0001).description == "2001:db8:0:1:1:1:1:1")
    #expect(IPAddress.v6(high: 0, low: 0xFFFF_7F00_0001).isUnicast == false)
  }
}
