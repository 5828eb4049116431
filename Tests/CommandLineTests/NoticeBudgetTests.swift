import Piconet
import PiconetWire
import Testing

@testable import PiconetCommandLine

@Suite("Which actions of peers are reported")
struct NoticeBudgetTests {
  private let start = ContinuousClock.now

  private func key(_ number: Int) throws -> PeerID {
    var bytes = [UInt8](repeating: 0, count: PeerID.byteCount)
    (bytes[0], bytes[1]) = (UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number))
    return try #require(PeerID(bytes: bytes))
  }

  @Test("a stranger's repeated requests are reported once, then once in ten seconds with their number")
  func oneKey() throws {
    var declines = NoticeBudget()
    var told: [Int] = []
    // A thousand a second for half a minute, each time from another place.
    for millisecond in 0..<30_000 {
      let now = start + .milliseconds(millisecond)
      if let suppressed = declines.take(try key(1), at: "192.0.2.\(millisecond % 4)", now) { told.append(suppressed) }
    }
    #expect(told == [0, 9_999, 9_999])
  }

  @Test("an address with another key each time is reported eight times, then once in ten seconds")
  func oneAddress() throws {
    var declines = NoticeBudget()
    var told: [Int] = []
    for millisecond in 0..<30_000 {
      let now = start + .milliseconds(millisecond)
      if let suppressed = declines.take(try key(millisecond), at: "192.0.2.1", now) { told.append(suppressed) }
    }
    #expect(told.prefix(8).allSatisfy { $0 == 0 })
    #expect(told.count == 10 && told.dropFirst(8).allSatisfy { $0 > 9_000 }, "\(told)")
  }

  @Test("those that were not told are counted in words")
  func words() {
    #expect(
      [0, 1, 2].map(NoticeBudget.words) == ["", "; so was one before", "; so were 2 before"])
  }

  @Test("notices of one peer do not silence those of other peers, and are forgotten after a while")
  func others() throws {
    var declines = NoticeBudget()
    for _ in 0..<100 { _ = declines.take(try key(1), at: "192.0.2.1", start) }
    #expect(declines.take(try key(2), at: "192.0.2.2", start) == 0)
    #expect(declines.take(try key(3), at: "192.0.2.1", start) == 0)
    #expect(declines.take(try key(2), at: "192.0.2.2", start + .milliseconds(9_999)) == nil)
    #expect(declines.take(try key(2), at: "192.0.2.2", start + .seconds(10)) == 1)
    #expect(declines.take(try key(2), at: "192.0.2.2", start + .seconds(60)) == 0)
  }

  @Test("the first 64 failed offers of a sender are reported, and then none of its address, with any key")
  func offers() throws {
    var failures = NoticeBudget(ofKey: NoticeBudget.offerBurst, ofAddress: NoticeBudget.offerBurst)
    for number in 0..<64 {
      #expect(failures.tells(try key(1), at: "192.0.2.1", start))
      #expect(failures.take(try key(1), at: "192.0.2.1", start) == 0, "\(number)")
    }
    for number in 1...2 {
      #expect(!failures.tells(try key(number), at: "192.0.2.1", start))
      #expect(failures.take(try key(number), at: "192.0.2.1", start) == nil)
    }
    #expect(failures.take(try key(2), at: "192.0.2.2", start) == 0)
  }

  @Test("a known key has its own budget: strangers at its address can't use it up, nor can the key use up theirs")
  func knownKey() throws {
    var declines = NoticeBudget()
    for number in 0..<100 { _ = declines.take(try key(number), at: "192.0.2.1", start) }
    let mum = try key(1_000)
    func take(at address: String, _ time: Duration = .zero) -> Int? {
      declines.take(mum, at: address, isKnown: true, start + time)
    }
    for _ in 0..<NoticeBudget.addressBurst {
      let isTold = declines.tells(mum, at: "192.0.2.1", isKnown: true, start)
      let suppressed = take(at: "192.0.2.1")
      #expect(isTold && suppressed == 0)
    }
    let isTold = declines.tells(mum, at: "192.0.2.2", isKnown: true, start)
    #expect(!isTold)
    let rest = [take(at: "192.0.2.2"), take(at: "192.0.2.2", .seconds(10))]
    #expect(rest == [nil, 1])
    #expect(declines.take(try key(1_001), at: "192.0.2.2", start) == 0)
  }

  @Test("any number of new keys at new addresses get no more notices together than four addresses")
  func manyOfBoth() throws {
    var declines = NoticeBudget()
    var told: [Int] = []
    // A hundred a second for a minute and a half.
    for number in 0..<9_000 {
      let now = start + .milliseconds(10 * number)
      if let suppressed = declines.take(try key(number), at: "\(number)", now) { told.append(suppressed) }
    }
    let burst = 4 * NoticeBudget.addressBurst
    #expect(told.prefix(burst).allSatisfy { $0 == 0 })
    // One every 2.5 s, and each says how many were not told.
    #expect((burst + 34...burst + 36).contains(told.count), "\(told.count)")
    #expect(told.dropFirst(burst).allSatisfy { $0 > 200 }, "\(told)")
    #expect(declines.take(try key(1), at: "new", start + .seconds(120)) != nil)
  }

  @Test("what strangers of ever new addresses do keeps no known key from being told")
  func knownBesideMany() throws {
    var declines = NoticeBudget()
    for number in 0..<1_000 { _ = declines.take(try key(number), at: "\(number)", start) }
    let isTold = declines.tells(try key(2_000), at: "new", start)
    #expect(!isTold)
    #expect(declines.take(try key(2_000), at: "new", isKnown: true, start) == 0)
  }
}
