import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("The race of transports")
struct ConnectRaceTests {
  private let l2cap = TransportAddress(kind: .l2cap, text: "b")
  private let rfcomm = TransportAddress(kind: .rfcomm, text: "c")

  private func race(_ addresses: [TransportAddress], _ preference: [TransportKind] = [.tcp, .l2cap, .rfcomm])
    -> ConnectRace
  {
    ConnectRace(addresses: addresses, preference: preference, headStart: .seconds(1))
  }

  @Test("transports are dialled in order of preference, each with all its addresses in their order")
  func order() {
    var race = race([rfcomm, tcp("2"), l2cap, tcp("1")], [.l2cap, .tcp, .rfcomm])
    #expect(race.next(at: seconds(0))?.addresses == [l2cap])
    #expect(race.next(at: seconds(1))?.addresses == [tcp("2"), tcp("1")])
    #expect(race.next(at: seconds(2))?.addresses == [rfcomm])
    #expect(race.next(at: seconds(9)) == nil)
    #expect(race.running == [.l2cap, .tcp, .rfcomm])
  }

  @Test("a transport waits until the one before it has had its head start")
  func headStart() {
    var race = race([tcp("1"), l2cap])
    #expect(race.next(at: seconds(5))?.kind == .tcp)
    #expect(race.nextDeadline == seconds(6))
    #expect(race.next(at: seconds(5)) == nil)
    #expect(race.next(at: Instant(nanoseconds: 5_999_999_999)) == nil)
    #expect(race.next(at: seconds(6))?.kind == .l2cap)
    #expect(race.nextDeadline == nil)
  }

  @Test("strangers at one address after the other put off the next transport by one head start together")
  func strangersPutNothingOff() {
    var race = race([tcp("1"), tcp("2"), tcp("3"), l2cap])
    #expect(race.next(at: seconds(0))?.kind == .tcp)
    race.answeredByStranger(.tcp, at: "1", LinkFailure(.authentication))
    #expect(race.next(at: Instant(nanoseconds: 900_000_000))?.addresses == [tcp("2"), tcp("3")])
    #expect(race.nextDeadline == seconds(1))
    #expect(race.next(at: seconds(1))?.kind == .l2cap)
  }

  @Test("relays are dialled one after the other: one that is silent in its tunnel does not stand for all")
  func relays() {
    let over = [1, 2].map { TransportAddress(kind: .relay, text: "over \($0)") }
    var race = race(over, [.tcp, .relay])
    #expect(race.next(at: seconds(0))?.addresses == [over[0]])
    race.failed(.relay, LinkFailure(.timedOut))
    #expect(!race.isLost)
    #expect(race.next(at: seconds(10))?.addresses == [over[1]])
    race.failed(.relay, LinkFailure(.timedOut))
    #expect(race.isLost)
  }

  @Test("where the peer comes in sight while its transport is dialled is dialled when that fails, and nothing twice")
  func learnedWhileDialled() {
    for isStranger in [true, false] {
      var race = race([tcp("1")])
      _ = race.next(at: seconds(0))
      race.learned([tcp("1"), tcp("2")], at: seconds(1))
      #expect(race.next(at: seconds(5)) == nil)
      if isStranger {
        race.answeredByStranger(.tcp, at: "1", LinkFailure(.authentication))
      } else {
        race.failed(.tcp, LinkFailure(.refused))
      }
      #expect(!race.isLost)
      #expect(race.next(at: seconds(5))?.addresses == [tcp("2")])
      race.failed(.tcp, LinkFailure(.refused))
      #expect(race.isLost)
    }
  }

  @Test("a transport over which the peer comes in sight waits for the head start of the one that is dialled")
  func learnedTransport() {
    var race = race([l2cap])
    _ = race.next(at: seconds(0))
    race.learned([rfcomm, tcp("1")], at: seconds(4))
    #expect(race.next(at: seconds(4)) == nil)
    #expect(race.nextDeadline == seconds(5))
    #expect(race.next(at: seconds(5))?.kind == .tcp)
    #expect(race.next(at: seconds(6))?.kind == .rfcomm)
  }

  @Test("whoever claims to be the peer everywhere is dialled at 64 addresses at most")
  func learnedEverywhere() {
    var race = race([tcp("0")])
    _ = race.next(at: seconds(0))
    race.learned((1...500).map { tcp("\($0)") }, at: seconds(0))
    #expect(race.addresses.count == 64)
    race.learned([tcp("here")], at: seconds(0))
    #expect(race.addresses.count == 64)
  }

  @Test("the failure of the only one that runs starts the next at once")
  func failureStartsTheNext() {
    var race = race([tcp("1"), l2cap])
    _ = race.next(at: seconds(0))
    race.failed(.tcp, LinkFailure(.refused))
    #expect(race.next(at: seconds(0))?.kind == .l2cap)
  }

  @Test("a failure starts the next at once while another still runs, and only the next", arguments: [0, 1])
  func failureBesideAnother(which: Int) {
    let le = TransportAddress(kind: .le, text: "d")
    var race = race([tcp("1"), l2cap, rfcomm, le], [.tcp, .l2cap, .rfcomm, .le])
    _ = race.next(at: seconds(0))
    _ = race.next(at: seconds(1))
    race.failed([.tcp, .l2cap][which], LinkFailure(.refused))
    #expect(race.next(at: seconds(1))?.kind == .rfcomm)
    #expect(race.next(at: seconds(1)) == nil)
    #expect(race.nextDeadline == seconds(2))
  }

  @Test("over Bluetooth a link that is reset as it begins is dialled once more, at once and before the next transport")
  func resetOfANewLink() {
    var race = race([l2cap, rfcomm])
    _ = race.next(at: seconds(0))
    race.failed(.l2cap, LinkFailure(.reset, "at first"))
    #expect(race.failures.isEmpty)
    #expect(race.next(at: seconds(0))?.addresses == [l2cap])
    race.failed(.l2cap, LinkFailure(.reset, "again"))
    #expect(race.failures == [TransportFailure(.l2cap, LinkFailure(.reset, "again"))])
    #expect(race.next(at: seconds(0))?.kind == .rfcomm)
    race.failed(.rfcomm, LinkFailure(.refused))
    #expect(race.isLost)
  }

  @Test("a TCP connection that is reset is not dialled again")
  func resetOfTCP() {
    var race = race([tcp("1")])
    _ = race.next(at: seconds(0))
    race.failed(.tcp, LinkFailure(.reset))
    #expect(race.isLost)
  }

  @Test("the race is lost when all have failed, and every failure is kept")
  func lost() {
    var race = race([tcp("1"), l2cap])
    #expect(!race.isLost)
    _ = race.next(at: seconds(0))
    race.failed(.tcp, LinkFailure(.refused, "nobody listens"))
    #expect(!race.isLost)
    _ = race.next(at: seconds(0))
    race.failed(.l2cap, LinkFailure(.timedOut))
    #expect(race.isLost)
    #expect(race.next(at: seconds(100)) == nil)
    #expect(
      race.failures == [
        TransportFailure(.tcp, LinkFailure(.refused, "nobody listens")),
        TransportFailure(.l2cap, LinkFailure(.timedOut)),
      ])
    #expect(ConnectRace.describe(race.failures) == "tcp: nobody listens; l2cap: no answer in time")
  }

  @Test("when time is up, those that have not answered are told of as well")
  func timeIsUp() {
    var race = race([tcp("1"), l2cap])
    _ = race.next(at: seconds(0))
    race.failed(.tcp, LinkFailure(.refused))
    _ = race.next(at: seconds(0))
    #expect(race.failuresInTime.map(\.transport) == [.tcp, .l2cap])
    #expect(race.failuresInTime.map(\.failure.code) == [.refused, .timedOut])
    #expect(race.failures.count == 1)
  }

  @Test("transports that failed for the same reason are told together, where the first of them stands")
  func sameReason() {
    let off = LinkFailure(.notAvailable, "00:11:22:33:44:55: hci0 is switched off")
    let failures = [
      TransportFailure(.l2cap, off), TransportFailure(.tcp, LinkFailure(.refused, "nobody listens")),
      TransportFailure(.rfcomm, off), TransportFailure(.le, LinkFailure(.noService, off.detail)),
    ]
    #expect(
      ConnectRace.describe(failures)
        == "l2cap, rfcomm, le: 00:11:22:33:44:55: hci0 is switched off; tcp: nobody listens")
    #expect(ConnectRace.describe([]) == "")
  }

  @Test("a device that has not answered over Bluetooth when time is up may be off or far away, which is said once")
  func silentDevice() {
    var race = race([tcp("1"), l2cap, rfcomm])
    for time in [0, 100, 200] as [UInt64] { _ = race.next(at: seconds(time)) }
    #expect(
      ConnectRace.describe(race.failuresInTime)
        == "tcp: no answer in time; l2cap, rfcomm: the device does not answer: is it on and near?")
  }

  @Test("without an address of a known transport the race is lost from the start")
  func nothingToDial() {
    var none = race([])
    #expect(none.isLost)
    #expect(none.next(at: seconds(0)) == nil)
    #expect(race([rfcomm], [.tcp]).isLost)
    #expect(race([tcp("1")], []).isLost)
  }

  @Test("a head start beyond the end of the clock is no trap")
  func endlessHeadStart() {
    var race = ConnectRace(addresses: [tcp("1"), l2cap], preference: [.tcp, .l2cap], headStart: .seconds(Int64.max))
    _ = race.next(at: seconds(1))
    #expect(race.next(at: seconds(100)) == nil)
    race.failed(.tcp, LinkFailure(.reset))
    #expect(race.next(at: seconds(100))?.kind == .l2cap)
  }

  @Test("an address where another key answers is left out, and the others of its transport are dialled at once")
  func anotherKey() {
    var race = race([tcp("1"), tcp("2"), tcp("3"), l2cap])
    _ = race.next(at: seconds(0))
    race.answeredByStranger(.tcp, at: "2", LinkFailure(.authentication))
    #expect(!race.isLost)
    #expect(race.next(at: seconds(0))?.addresses == [tcp("1"), tcp("3")])
    #expect(race.next(at: seconds(0)) == nil)
    race.failed(.tcp, LinkFailure(.refused))
    #expect(race.next(at: seconds(0))?.addresses == [l2cap])
    race.answeredByStranger(.l2cap, at: "b/7", LinkFailure(.authentication))
    #expect(race.isLost)
    #expect(race.failures.map(\.failure.code) == [.authentication, .refused, .authentication])
  }

  @Test("when none of the addresses reads like the one that answered, one after the other is dialled alone")
  func anotherKeyBehindAName() {
    var race = race([tcp("host:1"), tcp("host:2"), tcp("host:3")])
    _ = race.next(at: seconds(0))
    race.answeredByStranger(.tcp, at: "127.0.0.1:2", LinkFailure(.authentication))
    #expect(race.next(at: seconds(0))?.addresses == [tcp("host:1")])
    race.failed(.tcp, LinkFailure(.refused))
    #expect(race.next(at: seconds(0))?.addresses == [tcp("host:2")])
    race.answeredByStranger(.tcp, at: "127.0.0.1:2", LinkFailure(.authentication))
    #expect(race.next(at: seconds(0))?.addresses == [tcp("host:3")])
    race.failed(.tcp, LinkFailure(.refused))
    #expect(race.isLost && race.next(at: seconds(9)) == nil)
  }

  @Test(
    "when what answers first can't do TLS or hangs up, each address is dialled alone; over a radio nobody is asked again",
    arguments: [LinkFailure.Code.authentication, .reset])
  func answersWithoutTLS(code: LinkFailure.Code) {
    var race = race([tcp("1"), tcp("2")])
    _ = race.next(at: seconds(0))
    race.failed(.tcp, LinkFailure(code))
    #expect(race.next(at: seconds(0))?.addresses == [tcp("1")])
    race.failed(.tcp, LinkFailure(code))
    #expect(race.next(at: seconds(0))?.addresses == [tcp("2")])
    race.failed(.tcp, LinkFailure(code))
    #expect(race.isLost && race.failures.count == 3)
    var radio = self.race([l2cap, TransportAddress(kind: .l2cap, text: "d")])
    _ = radio.next(at: seconds(0))
    radio.failed(.l2cap, LinkFailure(.authentication))
    #expect(radio.isLost)
  }

  @Test(
    "what is reached and then fails, or says nothing, costs its address alone", arguments: LinkFailure.Code.allCases)
  func failsAtAnAddress(code: LinkFailure.Code) {
    var race = race([tcp("1"), tcp("2"), tcp("3")])
    _ = race.next(at: seconds(0))
    race.failed(.tcp, LinkFailure(code), at: "1")
    #expect(race.next(at: seconds(0))?.addresses == [tcp("2"), tcp("3")])
    race.failed(.tcp, LinkFailure(code), at: "3")
    #expect(race.next(at: seconds(0))?.addresses == [tcp("2")])
    race.failed(.tcp, LinkFailure(.unreachable))
    // Who was only slow is dialled once more, alone.
    for slow in code == .timedOut ? ["1", "3"] : [] {
      #expect(race.next(at: seconds(0))?.addresses == [tcp(slow)])
      race.failed(.tcp, LinkFailure(code), at: slow)
    }
    #expect(race.isLost && race.failures.count == (code == .timedOut ? 5 : 3))
  }

  @Test("a dial is given sixteen addresses, and what it was not given is dialled next")
  func manyAddresses() {
    let all = (1...20).map { tcp("\($0)") }
    var race = race(all)
    #expect(race.next(at: seconds(0))?.addresses == Array(all[..<16]))
    race.failed(.tcp, LinkFailure(.unreachable))
    #expect(race.next(at: seconds(0))?.addresses == Array(all[16...]))
    race.failed(.tcp, LinkFailure(.unreachable))
    #expect(race.isLost)
  }
}
