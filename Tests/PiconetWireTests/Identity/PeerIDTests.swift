import PiconetWire
import Testing

@Suite("Peer ids")
struct PeerIDTests {
  @Test("an id has exactly 32 bytes and keeps them")
  func bytes() {
    let bytes = [UInt8](0x60..<0x80)
    #expect(PeerID(bytes: bytes)?.bytes == bytes)
    #expect(PeerID(bytes: bytes.dropLast()) == nil)
    #expect(PeerID(bytes: bytes + [0]) == nil)
    #expect(PeerID(bytes: []) == nil)
  }

  @Test("an id is read from 64 hexadecimal digits of either case and nothing else")
  func hexadecimal() throws {
    let text = String(repeating: "0aF9", count: 16)
    let id = try #require(PeerID(hexadecimal: text))
    #expect(id.description == text.lowercased())
    #expect(id.shortDescription == "0af90af90af9")
    for wrong in [String(text.dropLast()), text + "00", "g" + text.dropFirst(), "", String(repeating: "é", count: 32)] {
      #expect(PeerID(hexadecimal: wrong) == nil, "\(wrong)")
    }
  }

  @Test("the order is that of the bytes, from the first on")
  func order() throws {
    var bytes = [UInt8](repeating: 0x80, count: 32)
    let middle = try #require(PeerID(bytes: bytes))
    for index in bytes.indices {
      bytes[index] = 0x81
      #expect(try middle < #require(PeerID(bytes: bytes)))
      bytes[index] = 0x7F
      #expect(try #require(PeerID(bytes: bytes)) < middle)
      bytes[index] = 0x80
    }
    #expect(!(middle < middle))
  }

  @Test("ids that a hostile advertiser gives the same beginning do not share a hash")
  func hash() throws {
    let ids = try (UInt8(0)..<100).map { last in
      try #require(PeerID(bytes: [UInt8](repeating: 7, count: 31) + [last]))
    }
    #expect(Set(ids.map(\.hashValue)).count > 90)
  }

  @Test("an incarnation is written with all its digits")
  func incarnation() {
    #expect(Incarnation(rawValue: 0x1F).description == "000000000000001f")
  }

  @Test("a known reason has words and an unknown one its number")
  func reason() {
    #expect(Reason.diskFull.description == "disk full")
    #expect(Reason(rawValue: 4711).description == "reason 4711")
  }
}
