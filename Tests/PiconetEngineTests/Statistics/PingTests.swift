import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Pings that the application asks for")
struct PingTests {
  private func pingToken(_ outcome: Outcome) -> UInt64? {
    for case .ping(let token) in outcome.frames { return token }
    return nil
  }

  @Test("the answer tells the round trip, once")
  func roundTrip() throws {
    let one = OneSided().connected()
    let token = try #require(pingToken(one.side.command(.ping(one.far, timeout: .seconds(5)), id: 1)))
    one.side.wait(.milliseconds(30))
    #expect(one.receive(.pong(token)).replies(to: 1) == [.roundTrip(.milliseconds(30))])
    #expect(one.receive(.pong(token)).effects.isEmpty)
    let roundTrip = try #require(one.side.statistics(of: one.far)?.roundTrip)
    #expect(roundTrip.last == .milliseconds(30) && roundTrip.shortest == .milliseconds(30) && roundTrip.count == 1)
  }

  @Test("each answer belongs to its ping, and an unsolicited one is ignored")
  func answersBelongToTheirPings() throws {
    let one = OneSided().connected()
    let first = try #require(pingToken(one.side.command(.ping(one.far, timeout: .seconds(5)), id: 1)))
    one.side.wait(.milliseconds(10))
    let second = try #require(pingToken(one.side.command(.ping(one.far, timeout: .seconds(5)), id: 2)))
    one.side.wait(.milliseconds(10))
    #expect(one.receive(.pong(VariableInteger.max)).effects.isEmpty)
    #expect(one.receive(.pong(second)).replies(to: 2) == [.roundTrip(.milliseconds(10))])
    #expect(one.receive(.pong(first)).replies(to: 1) == [.roundTrip(.milliseconds(20))])
  }

  @Test("a ping without an answer times out, and a late answer is ignored")
  func timeout() throws {
    let one = OneSided().connected()
    let token = try #require(pingToken(one.side.command(.ping(one.far, timeout: .seconds(1)), id: 1)))
    #expect(one.side.wait(.seconds(1) - .nanoseconds(1)).replies(to: 1).isEmpty)
    let ending = Ending(.timedOut, .peer, "no answer to the ping")
    #expect(one.side.wait(.nanoseconds(1)).replies(to: 1) == [.failed(ending)])
    #expect(one.receive(.pong(token)).effects.isEmpty)
    #expect(one.side.census.members == 1)
  }

  @Test("only members are pinged, and never too many at once")
  func limits() throws {
    let stranger = OneSided().associated()
    let refused = stranger.side.command(.ping(stranger.far, timeout: .seconds(1)), id: 1).replies(to: 1)
    #expect(refused == [.failed(Ending(.noSuchAssociation, .us, "not connected to this peer"))])
    let one = OneSided().connected()
    for id in 0..<UInt64(PingTable.limit) {
      #expect(one.side.command(.ping(one.far, timeout: .seconds(9)), id: id).replies(to: id).isEmpty)
    }
    let tooMany = one.side.command(.ping(one.far, timeout: .seconds(9)), id: 99).replies(to: 99)
    #expect(tooMany == [.failed(Ending(.limitExceeded, .us, "16 pings to this peer are under way"))])
  }

  @Test("a cancelled ping gives its place back at once, and its answer is no other ping's")
  func cancelled() throws {
    let one = OneSided().connected()
    let tokens = try (0..<UInt64(PingTable.limit)).map { id in
      try #require(pingToken(one.side.command(.ping(one.far, timeout: .seconds(9)), id: id)))
    }
    let outcome = one.side.command(.cancelPing(CommandID(rawValue: 3)), id: 50)
    #expect(outcome.replies(to: 3) == [.failed(Ending(.cancelled, .us))] && outcome.replies(to: 50) == [.done])
    let next = one.side.command(.ping(one.far, timeout: .seconds(60)), id: 51)
    #expect(next.replies(to: 51).isEmpty)
    let token = try #require(pingToken(next))
    #expect(one.receive(.pong(tokens[3])).effects.isEmpty)
    one.side.wait(.milliseconds(10))
    #expect(one.receive(.pong(token)).replies(to: 51) == [.roundTrip(.milliseconds(10))])
    #expect(one.side.command(.cancelPing(CommandID(rawValue: 51)), id: 52).replies(to: 51).isEmpty)
  }

  @Test("an application that pings and cancels without end is refused before a peer that takes nothing is blamed")
  func cancelledWithoutEnd() throws {
    let one = OneSided().connected()
    one.side.takesAll = false
    var refusals = 0
    for id in 1...100_000 as ClosedRange<UInt64> where refusals == 0 {
      let replies = one.side.command(.ping(one.far, timeout: .seconds(9)), id: id).replies(to: id)
      if case .failed(let ending)? = replies.first {
        #expect(ending.reason == .limitExceeded && ending.blame == .us)
        refusals += 1
      }
      one.side.command(.cancelPing(CommandID(rawValue: id)), id: 200_000 + id)
    }
    #expect(refusals == 1)
    one.receive(.ping(1))
    #expect(one.side.census.members == 1)
  }

  @Test("every ping is answered when the link goes, and when the node stops")
  func endings() {
    let one = OneSided().connected()
    one.side.command(.ping(one.far, timeout: .seconds(9)), id: 1)
    let lost = one.side.take(.linkClosed(one.link, .ended)).replies(to: 1)
    #expect(lost.count == 1)
    let other = OneSided().connected()
    other.side.command(.ping(other.far, timeout: .seconds(60)), id: 1)
    var replies = other.side.command(.shutDown, id: 2)
    replies += other.side.wait(.seconds(60))
    #expect(replies.replies(to: 1).count == 1)
    #expect(replies.replies(to: 2) == [.done])
    #expect(other.side.command(.ping(other.far, timeout: .seconds(1)), id: 3).replies(to: 3).count == 1)
  }

  @Test("heartbeats measure too, and their table stays small")
  func heartbeats() throws {
    var table = PingTable()
    let tokens = (0..<100).map { table.begin(nil, at: seconds(UInt64($0))) }
    #expect(table.answered(tokens[10], at: seconds(200)) == nil)
    #expect(table.roundTrip == nil)
    #expect(table.answered(tokens[99], at: seconds(100)) == nil)
    #expect(table.roundTrip?.last == .seconds(1))
    #expect(!table.isFull && table.nextDeadline == nil)
  }

  @Test("the smoothed round trip follows slowly")
  func smoothing() {
    var roundTrip = RoundTripEstimate(first: .milliseconds(80))
    roundTrip.add(.milliseconds(160))
    #expect(roundTrip.smoothed == .milliseconds(90))
    #expect(roundTrip.last == .milliseconds(160) && roundTrip.shortest == .milliseconds(80) && roundTrip.count == 2)
  }
}
