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

  @Test("transports begin in order of preference, the addresses of each in their order")
  func order() {
    var race = race([rfcomm, tcp("2"), l2cap, tcp("1")], [.l2cap, .tcp, .rfcomm])
    #expect(race.next(at: seconds(0))?.addresses == [l2cap])
    #expect(race.next(at: seconds(1))?.addresses == [tcp("2")])
    #expect(race.next(at: seconds(2))?.addresses == [tcp("1")])
    #expect(race.next(at: seconds(2))?.addresses == [rfcomm])
    #expect(race.next(at: seconds(9)) == nil)
    #expect(race.running == [.l2cap, .tcp, .rfcomm])
  }

  @Test("sixteen addresses that all stall are each dialled within a second, each for itself")
  func sideBySide() {
    let all = (1...16).map { tcp("\($0)") }
    var race = race(all)
    var dialled: [TransportAddress] = []
    while let time = dialled.isEmpty ? seconds(0) : race.nextDeadline, time < seconds(1) {
      while let next = race.next(at: time) { dialled += next.addresses }
    }
    #expect(dialled == all && race.running == [.tcp])
  }

  @Test("a dial that fails starts the next one of its transport at once, and only the next")
  func failureBesideOthers() {
    var race = race([tcp("1"), tcp("2"), tcp("3")])
    #expect(race.next(at: seconds(0))?.addresses == [tcp("1")])
    #expect(race.next(at: seconds(0)) == nil)
    race.failed(.tcp, [tcp("1")], LinkFailure(.reset), at: "1")
    #expect(race.next(at: seconds(0))?.addresses == [tcp("2")])
    #expect(race.next(at: seconds(0)) == nil && race.nextDeadline != nil)
    race.answeredByStranger(.tcp, [tcp("2")], at: "2", LinkFailure(.authentication))
    #expect(race.next(at: seconds(0))?.addresses == [tcp("3")])
    race.failed(.tcp, [tcp("3")], LinkFailure(.refused))
    #expect(race.isLost && race.next(at: seconds(9)) == nil)
    #expect(race.failures.map(\.failure.code) == [.authentication])
  }

  @Test("strangers at one address after the other put off the next transport by one head start together")
  func strangersPutNothingOff() {
    var race = race([tcp("1"), tcp("2"), tcp("3"), l2cap])
    #expect(race.next(at: seconds(0))?.kind == .tcp)
    race.answeredByStranger(.tcp, [tcp("1")], at: "1", LinkFailure(.authentication))
    #expect(race.next(at: Instant(nanoseconds: 900_000_000))?.addresses == [tcp("2")])
    #expect(race.next(at: seconds(1))?.addresses == [tcp("3")])
    #expect(race.next(at: seconds(1))?.kind == .l2cap)
  }

  @Test("an address that comes in sight while its transport is dialled is dialled beside that, and none twice")
  func learnedWhileDialled() {
    var race = race([tcp("1")])
    _ = race.next(at: seconds(0))
    race.learned([tcp("1"), tcp("2")], at: seconds(1))
    #expect(race.next(at: seconds(5))?.addresses == [tcp("2")])
    for address in ["1", "2"] { race.failed(.tcp, [tcp(address)], LinkFailure(.refused)) }
    #expect(race.isLost && race.isRefusedEverywhere(.tcp))
  }

  @Test("other nodes of the key are dialled beside the wanted one's addresses after 400 ms, or once those have failed")
  func others() {
    func race() -> ConnectRace {
      ConnectRace(
        addresses: [tcp("1"), l2cap], others: [tcp("2"), tcp("3")], preference: [.tcp, .l2cap], headStart: .seconds(1))
    }
    var stalled = race()
    #expect(stalled.next(at: seconds(1))?.addresses == [tcp("1")])
    #expect(stalled.next(at: seconds(1)) == nil)
    let due = seconds(1) + ConnectRace.ownTime
    #expect(stalled.nextDeadline == due)
    #expect(stalled.next(at: due)?.addresses == [tcp("2")])
    #expect(stalled.next(at: due + .milliseconds(50))?.addresses == [tcp("3")])
    // They put off no other transport of the wanted node.
    #expect(stalled.next(at: seconds(2))?.addresses == [l2cap])

    var failing = race()
    _ = failing.next(at: seconds(1))
    failing.failed(.tcp, [tcp("1")], LinkFailure(.reset))
    #expect(failing.next(at: seconds(1))?.addresses == [l2cap])
    #expect(failing.next(at: seconds(1)) == nil && !failing.isLost)
    failing.failed(.l2cap, [l2cap], LinkFailure(.hostDown))
    #expect(!failing.isLost && failing.next(at: seconds(1))?.addresses == [tcp("2")])
    // A refusal by other nodes says nothing of the wanted one.
    failing.failed(.tcp, [tcp("2")], LinkFailure(.refused))
    #expect(!failing.isRefusedEverywhere(.tcp))
  }

  @Test("other nodes of the key have turns with the wanted one's addresses, however many it is said to have")
  func othersHaveTurns() {
    let own = (1...16).map { tcp("own \($0)") }
    var race = ConnectRace(addresses: own, others: [tcp("other")], preference: [.tcp], headStart: .seconds(1))
    var dialled: [TransportAddress] = []
    while let time = dialled.isEmpty ? seconds(0) : race.nextDeadline, time < seconds(1) {
      while let next = race.next(at: time) { dialled += next.addresses }
    }
    #expect((dialled.firstIndex(of: tcp("other")) ?? 17) < 6)
  }

  @Test("ten thousand nodes of the key take half of the room, and none of the wanted node's")
  func manyOthers() {
    var race = ConnectRace(
      addresses: [tcp("1")], others: (0..<10_000).map { tcp("other \($0)") }, preference: [.tcp], headStart: .zero)
    #expect(race.addresses.count == 33)
    race.learned((0..<10_000).map { tcp("late \($0)") }, ofOthers: true, at: seconds(0))
    race.learned((2...40).map { tcp("\($0)") }, at: seconds(0))
    #expect(race.addresses.count == ConnectRace.addressLimit && race.addresses.contains(tcp("31")))
  }

  @Test("the places of one device are one dial over a radio, those of another beside it, after a second")
  func devicesOfRadio() {
    let places = ["a/1", "b/1", "a/2"].map { TransportAddress(kind: .l2cap, text: $0) }
    var race = race(places)
    #expect(race.next(at: seconds(0))?.addresses == [places[0], places[2]])
    #expect(race.next(at: seconds(0)) == nil)
    #expect(race.next(at: seconds(1))?.addresses == [places[1]])
    // Where the radio is taken by the first one it is dialled again after that.
    race.failed(.l2cap, [places[1]], LinkFailure(.busy))
    race.failed(.l2cap, [places[0], places[2]], LinkFailure(.timedOut), at: "a/1")
    for address in [places[2], places[0], places[1]] {
      let dial = race.next(at: seconds(3))
      #expect(dial?.addresses == [address])
      race.failed(.l2cap, [address], LinkFailure(.hostDown))
    }
    #expect(race.isLost)
  }

  @Test("if the winner breaks before it is of use, the dials that it has cut short go on", arguments: [false, true])
  func winnerBroke(isRunning: Bool) {
    var race = race([tcp("1"), tcp("2")])
    _ = race.next(at: seconds(0))
    if isRunning { _ = race.next(at: seconds(1)) }
    race.winnerBroke(.tcp, at: "1", "it broke")
    #expect(race.next(at: seconds(1))?.addresses == [tcp("2")])
    race.failed(.tcp, [tcp("2")], LinkFailure(.refused))
    #expect(race.isLost && race.failures.count == 1)
  }

  @Test("the failures of one transport's addresses are one, with the reason of each and the most telling code")
  func mergedFailures() {
    var race = race([tcp("1"), tcp("2"), tcp("3"), l2cap])
    for address in ["1", "2", "3"] {
      _ = race.next(at: seconds(0))
      race.failed(.tcp, [tcp(address)], LinkFailure(address == "2" ? .timedOut : .refused, "\(address): no"))
    }
    #expect(race.failures.map(\.failure) == [LinkFailure(.timedOut, "1: no; 2: no; 3: no")])
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

  @Test("relays are dialled one after the other: one that is silent in its tunnel does not stand for all")
  func relays() {
    let over = [1, 2].map { TransportAddress(kind: .relay, text: "over \($0)") }
    var race = race(over, [.tcp, .relay])
    #expect(race.next(at: seconds(0))?.addresses == [over[0]])
    race.failed(.relay, [over[0]], LinkFailure(.timedOut))
    #expect(!race.isLost)
    #expect(race.next(at: seconds(10))?.addresses == [over[1]])
    race.failed(.relay, [over[1]], LinkFailure(.timedOut))
    #expect(race.isLost)
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

  @Test("a peer that is claimed to be everywhere is dialled at 64 addresses at most")
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
    race.failed(.tcp, [tcp("1")], LinkFailure(.refused))
    #expect(race.next(at: seconds(0))?.kind == .l2cap)
  }

  @Test("a failure starts the next at once while another still runs, and only the next", arguments: [0, 1])
  func failureBesideAnother(which: Int) {
    let le = TransportAddress(kind: .le, text: "d")
    var race = race([tcp("1"), l2cap, rfcomm, le], [.tcp, .l2cap, .rfcomm, .le])
    _ = race.next(at: seconds(0))
    _ = race.next(at: seconds(1))
    race.failed([.tcp, .l2cap][which], [[tcp("1")], [l2cap]][which], LinkFailure(.refused))
    #expect(race.next(at: seconds(1))?.kind == .rfcomm)
    #expect(race.next(at: seconds(1)) == nil)
    #expect(race.nextDeadline == seconds(2))
  }

  @Test("over Bluetooth a link that is reset as it begins is dialled once more, at once and before the next transport")
  func resetOfANewLink() {
    var race = race([l2cap, rfcomm])
    _ = race.next(at: seconds(0))
    race.failed(.l2cap, [l2cap], LinkFailure(.reset, "at first"))
    #expect(race.failures.isEmpty)
    #expect(race.next(at: seconds(0))?.addresses == [l2cap])
    race.failed(.l2cap, [l2cap], LinkFailure(.reset, "again"))
    #expect(race.failures == [TransportFailure(.l2cap, LinkFailure(.reset, "again"))])
    #expect(race.next(at: seconds(0))?.kind == .rfcomm)
    race.failed(.rfcomm, [rfcomm], LinkFailure(.refused))
    #expect(race.isLost)
  }

  @Test("a TCP connection that is reset is not dialled again")
  func resetOfTCP() {
    var race = race([tcp("1")])
    _ = race.next(at: seconds(0))
    race.failed(.tcp, [tcp("1")], LinkFailure(.reset))
    #expect(race.isLost)
  }

  @Test("the race is lost when all have failed, and every failure is kept")
  func lost() {
    var race = race([tcp("1"), l2cap])
    #expect(!race.isLost)
    _ = race.next(at: seconds(0))
    race.failed(.tcp, [tcp("1")], LinkFailure(.refused, "nobody listens"))
    #expect(!race.isLost)
    _ = race.next(at: seconds(0))
    race.failed(.l2cap, [l2cap], LinkFailure(.timedOut))
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
    race.failed(.tcp, [tcp("1")], LinkFailure(.refused))
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
    race.failed(.tcp, [tcp("1")], LinkFailure(.reset))
    #expect(race.next(at: seconds(100))?.kind == .l2cap)
  }

}
