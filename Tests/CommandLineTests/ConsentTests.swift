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

  @Test("a file whose name can't be used here comes under another one, once")
  func otherName() throws {
    let consents = Consents()
    var files = AnnouncedFiles()
    for (name, size) in [("12:30.jpg", 100), ("b.jpg", 7)] as [(String, Int64)] { files.add(name, bytes: size) }
    files.isWhole = true
    for selection in [OfferSelection.all, try OfferSelection("1", of: files, shown: 2)] {
      consents.agree(to: selection, of: files, from: phone)
      if selection == .all { #expect(consents.refusal(of: "b.jpg", bytes: 7, from: phone) == nil) }
      #expect(consents.refusal(of: "12:30.jpg", bytes: 100, from: phone) == nil)
      consents.giveBack(100, of: phone)
      if selection != .all { #expect(consents.refusal(of: "12_30.jpg", bytes: 99, from: phone) == .notChosen) }
      #expect(consents.refusal(of: "12_30.jpg", bytes: 100, from: phone) == nil)
      #expect(consents.refusal(of: "12_31.jpg", bytes: 100, from: phone) != nil, "\(selection)")
    }
    consents.giveBack(1, of: NodeID(peer: phone.peer, incarnation: Incarnation(rawValue: 2)))
  }

  @Test("of what was chosen no more comes than was announced of it, in files and in bytes")
  func moreThanChosen() throws {
    let consents = Consents()
    let files = announced(3, bytes: 100)
    for selection in ["2", "1.*"] {
      consents.agree(to: try OfferSelection(selection, of: files, shown: 3), of: files, from: phone)
      #expect(consents.refusal(of: "0.jpg", bytes: 100, from: phone) == .notChosen, "and counts for nothing")
      #expect(consents.refusal(of: "1.jpg", bytes: 100, from: phone) == nil)
      #expect(consents.refusal(of: "1.jpg", bytes: 0, from: phone) == .moreThanAnnounced)
      consents.agree(to: try OfferSelection(selection, of: files, shown: 3), of: files, from: phone)
      #expect(consents.refusal(of: "1.jpg", bytes: 101, from: phone) == .moreThanAnnounced)
    }
    // Of those without a name in the list any may be meant.
    var many = files
    many.files += 5
    many.bytes += 1_000
    consents.agree(to: try OfferSelection("*7.jpg", of: many, shown: 3), of: many, from: phone)
    #expect(consents.refusal(of: "7.jpg", bytes: 1_000, from: phone) == nil)
    #expect(consents.refusal(of: "17.jpg", bytes: 1, from: phone) == .moreThanAnnounced)
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
    func send(_ bytes: Int64, from number: UInt16, at now: ContinuousClock.Instant) throws -> Bool? {
      let isTaken = allowance.take(bytes, from: try key(number), at: now)
      if isTaken == true { allowance.settle(bytes, came: bytes, from: try key(number)) }
      return isTaken
    }
    #expect(try send(60, from: 1, at: start) == true)
    #expect(try send(41, from: 1, at: start) == false)
    #expect(try send(40, from: 1, at: start + .seconds(86_399)) == true)
    for number in 2...4 { #expect(try send(100, from: UInt16(number), at: start) == true) }
    #expect(try send(1, from: 5, at: start) == false, "all have had four times as much")
    #expect(try send(100, from: 1, at: start + .seconds(86_400)) == true)
    #expect(try send(101, from: 9, at: start + .seconds(90_000)) == false)
  }

  @Test("of a transfer that is over what came counts, and nothing of one that ends on another day is owed")
  func settled() throws {
    var allowance = StrangerAllowance(limit: 1_000)
    #expect(allowance.take(1_000, from: try key(1), at: start) == true)
    allowance.settle(1_000, came: 400, from: try key(1))
    #expect(allowance.take(601, from: try key(1), at: start) == false)
    #expect(allowance.take(600, from: try key(1), at: start) == true)
    #expect(allowance.take(100, from: try key(1), at: start + .seconds(86_400)) == true)
    allowance.settle(600, came: 0, from: try key(1))
    #expect(allowance.take(1_001, from: try key(1), at: start + .seconds(86_400)) == false, "less than nothing is used")
  }

  @Test("whether enough is left shows only once what this key has under way is settled; what others have is as used")
  func underWay() throws {
    var allowance = StrangerAllowance(limit: 100)
    #expect(allowance.take(60, from: try key(1), at: start) == true)
    #expect(allowance.take(41, from: try key(1), at: start) == nil)
    #expect(allowance.take(101, from: try key(1), at: start) == false)
    #expect(allowance.take(40, from: try key(1), at: start) == true, "waiting takes nothing")
    allowance.settle(60, came: 0, from: try key(1))
    #expect(allowance.take(61, from: try key(1), at: start) == nil)
    allowance.settle(40, came: 40, from: try key(1))
    #expect(allowance.take(61, from: try key(1), at: start) == false)
    for number in 2...4 { #expect(allowance.take(100, from: try key(UInt16(number)), at: start) == true) }
    #expect(allowance.take(60, from: try key(1), at: start) == true)
    #expect(allowance.take(1, from: try key(5), at: start) == false)
  }

  @Test("an offer that waits has what earlier ones leave, at the latest when none is under way; an ended one, nothing")
  func waiting() async throws {
    let (limit, key) = (DailyLimit(100), try key(1))
    #expect(await limit.take(100, from: key))
    async let second = limit.take(80, from: key)
    let ended = Task { await limit.take(30, from: key) }
    ended.cancel()
    #expect(await !ended.value)
    limit.settle(100, came: 10, from: key)
    #expect(await second)
    async let third = limit.take(20, from: key)
    limit.settle(80, came: 80, from: key)
    #expect(await !third)
    #expect(await limit.take(10, from: key))
  }

  @Test("a flood of keys is bounded by the sum")
  func bounds() throws {
    var allowance = StrangerAllowance(limit: 1_000)
    #expect(allowance.take(1_000, from: try key(1), at: start) == true)
    var taken = 0
    for number in 2..<5_000 where allowance.take(1, from: try key(UInt16(number)), at: start) == true { taken += 1 }
    #expect(taken == 3_000)
    var most = StrangerAllowance(limit: .max)
    for number in 1...2 { #expect(most.take(.max, from: try key(UInt16(number)), at: start) == true) }
  }
}
