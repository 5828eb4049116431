import PiconetWire
import Testing

@testable import PiconetCommandLine

@Suite("What strangers may send in a day")
struct StrangerAllowanceTests {
  private let start = ContinuousClock.now

  private func key(_ number: UInt16) throws -> PeerID {
    try #require(PeerID(bytes: [UInt8(number >> 8), UInt8(number & 0xFF)] + [UInt8](repeating: 0, count: 30)))
  }

  /// What is taken of an allowance that has enough.
  private func taken(
    _ bytes: Int64, from number: UInt16, of allowance: inout StrangerAllowance, at now: ContinuousClock.Instant
  ) throws -> StrangerAllowance.Taking {
    let answer = allowance.take(bytes, from: try key(number), at: now)
    return try #require(answer?.taking)
  }

  @Test("each key has the limit, all together four times as much, and the next day anew")
  func limits() throws {
    var allowance = StrangerAllowance(limit: 100)
    func send(_ bytes: Int64, from number: UInt16, at now: ContinuousClock.Instant) throws -> Bool? {
      guard let answer = allowance.take(bytes, from: try key(number), at: now) else { return nil }
      guard let taking = answer.taking else { return false }
      allowance.settle(taking, came: bytes)
      return true
    }
    #expect(try send(60, from: 1, at: start) == true)
    #expect(try send(41, from: 1, at: start) == false)
    #expect(try send(40, from: 1, at: start + .seconds(86_399)) == true)
    for number in 2...4 { #expect(try send(100, from: UInt16(number), at: start) == true) }
    #expect(try send(1, from: 5, at: start) == false, "all have had four times as much")
    #expect(try send(100, from: 1, at: start + .seconds(86_400)) == true)
    #expect(try send(101, from: 9, at: start + .seconds(90_000)) == false)
  }

  @Test("of a transfer that is over what came counts")
  func settled() throws {
    var allowance = StrangerAllowance(limit: 1_000)
    let first = try taken(1_000, from: 1, of: &allowance, at: start)
    allowance.settle(first, came: 400)
    #expect(allowance.take(601, from: try key(1), at: start) == .beyond)
    _ = try taken(600, from: 1, of: &allowance, at: start)
  }

  @Test("what ends on another day is given back to its own: neither its key nor all have more for it, or less")
  func daysApart() throws {
    let next = start + StrangerAllowance.day
    for came: Int64 in [0, 60, 100] {
      var allowance = StrangerAllowance(limit: 100)
      let before = try (1...4).map { try taken(100, from: UInt16($0), of: &allowance, at: start) }
      let after = try (1...4).map { try taken(50, from: UInt16($0), of: &allowance, at: next) }
      for taking in before { allowance.settle(taking, came: came) }
      // What is under way today still is.
      #expect(allowance.take(51, from: try key(1), at: next) == nil)
      for taking in after { allowance.settle(taking, came: 50) }
      #expect(allowance.take(51, from: try key(1), at: next) == .beyond)
      for number in 1...4 {
        let rest = try taken(50, from: UInt16(number), of: &allowance, at: next)
        allowance.settle(rest, came: 50)
      }
      #expect(allowance.take(1, from: try key(5), at: next) == .beyond, "all have had four times as much")
    }
  }

  @Test("an offer on the next day has its whole allowance, and no more once yesterday's transfer is over")
  func nextDay() async throws {
    let clock = Guarded(ContinuousClock.now)
    let (limit, key) = (DailyLimit(100, now: { clock.value }), try key(1))
    let yesterday = try #require(await limit.take(100, from: key))
    clock.change { $0 += StrangerAllowance.day }
    let today = try #require(await limit.take(100, from: key))
    limit.settle(yesterday, came: 0)
    limit.settle(today, came: 100)
    #expect(await limit.take(1, from: key) == nil)
  }

  @Test("whether enough is left shows only once what this key has under way is settled; what others have is as used")
  func underWay() throws {
    var allowance = StrangerAllowance(limit: 100)
    let first = try taken(60, from: 1, of: &allowance, at: start)
    #expect(allowance.take(41, from: try key(1), at: start) == nil)
    #expect(allowance.take(101, from: try key(1), at: start) == .beyond)
    // Waiting takes nothing.
    let second = try taken(40, from: 1, of: &allowance, at: start)
    allowance.settle(first, came: 0)
    #expect(allowance.take(61, from: try key(1), at: start) == nil)
    allowance.settle(second, came: 40)
    #expect(allowance.take(61, from: try key(1), at: start) == .beyond)
    for number in 2...4 { _ = try taken(100, from: UInt16(number), of: &allowance, at: start) }
    _ = try taken(60, from: 1, of: &allowance, at: start)
    #expect(allowance.take(1, from: try key(5), at: start) == .beyond)
  }

  @Test("an offer that waits has what earlier ones leave, at the latest when none is under way; an ended one, nothing")
  func waiting() async throws {
    let (limit, key) = (DailyLimit(100), try key(1))
    let first = try #require(await limit.take(100, from: key))
    async let second = limit.take(80, from: key)
    let ended = Task { await limit.take(30, from: key) }
    ended.cancel()
    #expect(await ended.value == nil)
    limit.settle(first, came: 10)
    let taking = try #require(await second)
    async let third = limit.take(20, from: key)
    limit.settle(taking, came: 80)
    #expect(await third == nil)
    #expect(await limit.take(10, from: key) != nil)
  }

  @Test("a transfer that needs more than was taken has what is left; if that is too little it keeps what it has")
  func extended() throws {
    var allowance = StrangerAllowance(limit: 100)
    let first = try taken(40, from: 1, of: &allowance, at: start)
    #expect(allowance.extend(first, to: 30, at: start) == first)
    #expect(allowance.extend(first, to: 101, at: start) == nil)
    let other = try taken(20, from: 1, of: &allowance, at: start)
    // The other one may yet need all that it has taken.
    #expect(allowance.extend(first, to: 81, at: start) == nil)
    let extended = allowance.extend(first, to: 80, at: start)
    let more = try #require(extended)
    allowance.settle(other, came: 20)
    allowance.settle(more, came: 70)
    #expect(allowance.take(11, from: try key(1), at: start) == .beyond)
    let rest = try taken(10, from: 1, of: &allowance, at: start)
    // The day after, all of it is taken from that day.
    let next = start + StrangerAllowance.day
    let moved = allowance.extend(rest, to: 60, at: next)
    #expect(moved?.bytes == 60)
    #expect(allowance.take(41, from: try key(1), at: next) == nil)
    _ = try taken(40, from: 1, of: &allowance, at: next)
  }

  @Test("a flood of keys is bounded by the sum")
  func bounds() throws {
    var allowance = StrangerAllowance(limit: 1_000)
    _ = try taken(1_000, from: 1, of: &allowance, at: start)
    var number = 0
    for other in 2..<5_000 where allowance.take(1, from: try key(UInt16(other)), at: start)?.taking != nil {
      number += 1
    }
    #expect(number == 3_000)
    var most = StrangerAllowance(limit: .max)
    for number in 1...2 { _ = try taken(.max, from: UInt16(number), of: &most, at: start) }
  }
}

@Suite("What an offer of a stranger has of the day")
struct DailyShareTests {
  private func content(_ size: UInt64) throws -> DailyShare.Content {
    let sender = try #require(PeerID(bytes: [UInt8](repeating: 7, count: 32)))
    return DailyShare.Content(sender: sender, identity: [1], size: size)
  }

  /// The share of an offer of which so much seems to be kept, and for which there is enough.
  private func share(
    of content: DailyShare.Content, kept: UInt64, in limit: DailyLimit
  ) async throws -> DailyShare {
    let share = await limit.share(of: content) { kept }
    return try #require(share)
  }

  @Test("behind what is kept only the rest counts; if less is kept then, the difference is taken, or nothing may come")
  func gone() async throws {
    let content = try content(100)
    for (daily, isEnough) in [(100, true), (99, false)] as [(Int64, Bool)] {
      let limit = DailyLimit(daily)
      let share = try await share(of: content, kept: 60, in: limit)
      #expect(share.refusal(behind: 60) == nil, "as it seemed")
      #expect(share.refusal(behind: 80) == nil, "less is to come")
      let refusal = share.refusal(behind: 0)
      #expect((refusal == nil) == isEnough && share.isBeyond != isEnough)
      share.end(came: isEnough ? 100 : 0, isStored: isEnough)
      // What came is counted, and what was not allowed has cost nothing.
      let rest = await limit.take(isEnough ? 1 : 99, from: content.sender)
      #expect((rest == nil) == isEnough)
    }
  }

  @Test("a file counts as much as it takes of a disk, however small it is; if nothing comes of it, nothing")
  func small() async throws {
    let sender = try #require(PeerID(bytes: [UInt8](repeating: 7, count: 32)))
    for (size, came, isStored) in [(12, 12, true), (12, 12, false), (12, 0, false), (0, 0, true), (0, 0, false)]
      as [(UInt64, UInt64, Bool)]
    {
      let content = DailyShare.Content(sender: sender, identity: [], size: size, smallest: 8_192)
      let limit = DailyLimit(10_000)
      let share = try #require(await limit.share(of: content) { 0 })
      share.end(came: came, isStored: isStored)
      let left = 10_000 - (isStored ? 8_192 : Int64(came))
      #expect(await limit.take(left + 1, from: sender) == nil, "\(size), \(came), \(isStored)")
      #expect(await limit.take(left, from: sender) != nil, "\(size), \(came), \(isStored)")
    }
  }

  @Test("of two transfers of one content at once one goes on behind what is kept, and the other takes the whole")
  func together() async throws {
    let content = try content(100)
    let limit = DailyLimit(140)
    let first = try await share(of: content, kept: 60, in: limit)
    let other = await limit.share(of: content) {
      Issue.record("what is kept counts for the first one")
      return 60
    }
    let second = try #require(other)
    #expect(first.refusal(behind: 60) == nil && second.refusal(behind: 0) == nil)
    // Whichever comes first at the kept part: there is no more for the two than both have taken.
    #expect(first.refusal(behind: 0) != nil)
    first.end(came: 40, isStored: true)
    second.end(came: 100, isStored: true)
    #expect(await limit.take(1, from: content.sender) == nil)
  }

  @Test("what is here and comes again counts like all that comes, and may come as long as enough is left")
  func again() async throws {
    let content = try content(100)
    let limit = DailyLimit(200)
    let share = try await share(of: content, kept: 60, in: limit)
    #expect(share.mayRepeat(30) && share.mayRepeat(20))
    // What is missing of the content counts besides: 50 came again, and all of it is to come now.
    #expect(share.refusal(behind: 0) == nil && share.refusal(behind: 20) == nil)
    #expect(share.mayRepeat(50) && !share.isBeyond)
    #expect(!share.mayRepeat(1) && share.isBeyond)
    share.end(came: 150, isStored: false)
    // A transfer that is over takes nothing.
    #expect(!share.mayRepeat(1))
    #expect(await limit.take(51, from: content.sender) == nil)
    #expect(await limit.take(50, from: content.sender) != nil)
  }

  @Test("a disk that asks once the transfer is over takes nothing, and nothing is settled twice")
  func late() async throws {
    let content = try content(100)
    let limit = DailyLimit(100)
    let share = try await share(of: content, kept: 100, in: limit)
    share.end(came: 0, isStored: false)
    _ = try #require(share.refusal(behind: 0), "it would be under way for ever")
    #expect(await limit.take(100, from: content.sender) != nil)
  }

  @Test("if there is too little for two of one content the second waits, and has what the first leaves")
  func waiting() async throws {
    let content = try content(100)
    for (came, isEnough) in [(30, true), (40, false)] as [(UInt64, Bool)] {
      let limit = DailyLimit(139)
      let first = try await share(of: content, kept: 60, in: limit)
      async let other = limit.share(of: content) { 0 }
      first.end(came: came, isStored: false)
      let second = await other
      #expect((second != nil) == isEnough)
      second?.end(came: 40 - came, isStored: true)
      // The next one goes on behind what is kept again.
      let third = try await share(of: content, kept: 90, in: limit)
      third.end(came: 10, isStored: true)
      #expect(await limit.take(90, from: content.sender) == nil, "50 have come")
      #expect(await limit.take(89, from: content.sender) != nil)
    }
  }
}
