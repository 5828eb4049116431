import PiconetEngine
import PiconetWire
import Testing

@testable import PiconetCommandLine

@Suite("What a person has agreed to take")
struct ConsentTests {
  private let phone = NodeID(
    peer: PeerID(bytes: [UInt8](repeating: 7, count: 32))!, incarnation: Incarnation(rawValue: 1))

  private func announced(_ count: Int, bytes: Int64, isWhole: Bool = true) -> AnnouncedFiles {
    var files = AnnouncedFiles()
    for number in 0..<count { files.add("\(number).jpg", bytes: bytes) }
    files.isWhole = isWhole
    return files
  }

  @Test("more files than were announced, or more bytes, are turned away")
  func more() {
    let consents = Consents()
    consents.agree(to: .all, of: announced(2, bytes: 100), from: phone)
    #expect(consents.refusal(of: "0.jpg", bytes: 150, from: phone) == nil)
    #expect(consents.refusal(of: "1.jpg", bytes: 51, from: phone) == .moreThanAnnounced)
    consents.agree(to: .all, of: announced(1, bytes: 100), from: phone)
    #expect(consents.refusal(of: "a.jpg", bytes: 1, from: phone) == nil)
    #expect(consents.refusal(of: "b.jpg", bytes: 1, from: phone) == .moreThanAnnounced)
    consents.forget(phone)
    #expect(consents.refusal(of: "b.jpg", bytes: 1, from: phone) == nil, "nothing was asked about it")
  }

  @Test("of what was not counted to the end there may be more, and of what was not announced any number")
  func partial() {
    let consents = Consents()
    for announced in [announced(1, bytes: 1, isWhole: false), nil] {
      consents.agree(to: .all, of: announced, from: phone)
      for number in 0..<5 { #expect(consents.refusal(of: "\(number)", bytes: .max, from: phone) == nil) }
    }
  }

  @Test("what was not chosen is turned away, whatever it is called besides")
  func some() throws {
    let consents = Consents()
    let files = announced(3, bytes: 1)
    consents.agree(to: try OfferSelection("2", of: files, shown: 3), of: files, from: phone)
    #expect(consents.refusal(of: "1.jpg", bytes: 1, from: phone) == nil)
    #expect(consents.refusal(of: "0.jpg", bytes: 1, from: phone) == .notChosen)
    #expect(consents.refusal(of: "album/1.jpg", bytes: 1, from: phone) == .notChosen)
  }
}

@Suite("What strangers may send in a day")
struct StrangerAllowanceTests {
  private let start = ContinuousClock.now

  private func key(_ number: UInt16) throws -> PeerID {
    try #require(PeerID(bytes: [UInt8(number >> 8), UInt8(number & 0xFF)] + [UInt8](repeating: 0, count: 30)))
  }

  @Test("each key has the limit, all together four times as much, and the next day anew")
  func limits() throws {
    var allowance = StrangerAllowance(limit: 100)
    #expect(allowance.take(60, from: try key(1), at: start))
    #expect(!allowance.take(41, from: try key(1), at: start))
    #expect(allowance.take(40, from: try key(1), at: start + .seconds(86_399)))
    for number in 2...4 { #expect(allowance.take(100, from: try key(UInt16(number)), at: start)) }
    #expect(!allowance.take(1, from: try key(5), at: start), "all have had four times as much")
    #expect(allowance.take(100, from: try key(1), at: start + .seconds(86_400)))
    #expect(!allowance.take(101, from: try key(9), at: start + .seconds(90_000)))
  }

  @Test("what did not come after all is given back; a flood of keys is bounded by the sum")
  func bounds() throws {
    var allowance = StrangerAllowance(limit: 1_000)
    #expect(allowance.take(1_000, from: try key(1), at: start))
    allowance.giveBack(1_000, to: try key(1))
    #expect(allowance.take(1_000, from: try key(1), at: start))
    var taken = 0
    for number in 2..<5_000 where allowance.take(1, from: try key(UInt16(number)), at: start) { taken += 1 }
    #expect(taken == 3_000)
    var most = StrangerAllowance(limit: .max)
    for number in 1...2 { #expect(most.take(.max, from: try key(UInt16(number)), at: start)) }
  }
}
