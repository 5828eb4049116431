import PiconetEngine
import PiconetSDP
import Testing

@testable import PiconetBluetooth

@Suite struct DialSequenceTests {
  private let first = BluetoothPlace("00:00:00:00:00:01/3")!
  private let second = BluetoothPlace("00:00:00:00:00:02/3")!
  private let unnumbered = BluetoothPlace("00:00:00:00:00:03")!
  private let start = Instant(nanoseconds: 1_000_000_000)
  private let refused = LinkFailure(.refused, "no")

  private func after(_ seconds: Double) -> Instant { start + .milliseconds(Int(seconds * 1000)) }

  @Test func placesAreTriedInOrderAndEveryFailureIsKept() {
    var sequence = DialSequence()
    #expect(sequence.start([first, second], at: start) == [.open(step: 1, first)])
    #expect(sequence.failed(1, refused, at: start) == [.open(step: 2, second)])
    let losses = [first, second].map { DialSequence.Loss(subject: $0.description, failure: refused) }
    #expect(sequence.failed(2, refused, at: start) == [.finished(.failed(losses))])
    #expect(sequence.nextDeadline == nil)
  }

  @Test func theFirstThatConnectsWins() {
    var sequence = DialSequence()
    _ = sequence.start([first, second], at: start)
    _ = sequence.failed(1, refused, at: start)
    #expect(sequence.connected(1) == [], "an earlier step has no say")
    #expect(sequence.connected(2) == [.finished(.connected(step: 2))])
    #expect(sequence.failed(2, refused, at: start) == [])
    #expect(sequence.cancel() == [])
  }

  @Test func aPlaceWithoutANumberIsAskedForIt() {
    var sequence = DialSequence()
    #expect(sequence.start([unnumbered], at: start) == [.lookUp(step: 1, unnumbered)])
    #expect(sequence.connected(1) == [], "a question does not connect")
    var found = unnumbered
    found.port = 7
    #expect(sequence.found(1, [7, 9], at: start) == [.open(step: 2, found)])
    found.port = 9
    #expect(sequence.failed(2, refused, at: start) == [.open(step: 3, found)])
  }

  @Test func noNumberAtAllIsNoService() {
    var sequence = DialSequence()
    _ = sequence.start([unnumbered], at: start)
    let loss = DialSequence.Loss(subject: unnumbered.description, failure: LinkFailure(.noService))
    #expect(sequence.found(1, [], at: start) == [.finished(.failed([loss]))])
  }

  @Test func aPlaceThatRefusesIsTriedAgainAsOftenAsToldAndNoMore() {
    var configuration = DialSequence.Configuration()
    configuration.refusedRetries = 1
    var sequence = DialSequence(configuration)
    let place = BluetoothPlace(device: BluetoothAddress(rawValue: 1), port: 5)
    #expect(sequence.start([place], at: start) == [.open(step: 1, place)])
    #expect(sequence.failed(1, LinkFailure(.refused), at: start).isEmpty)
    let later = start + configuration.busyPause
    #expect(sequence.deadlineReached(at: later) == [.open(step: 2, place)])
    #expect(sequence.failed(2, LinkFailure(.refused), at: later).count == 1)
    #expect(sequence.nextDeadline == nil)
  }

  @Test func whoTakesLongToRefuseHasAskedSomebodyAndIsNotTriedAgain() {
    var configuration = DialSequence.Configuration()
    configuration.refusedRetries = 1
    var sequence = DialSequence(configuration)
    _ = sequence.start([first], at: start)
    let loss = DialSequence.Loss(subject: first.description, failure: refused)
    #expect(sequence.failed(1, refused, at: after(2)) == [.finished(.failed([loss]))])
  }

  @Test(arguments: [LinkFailure.Code.busy, .reset]) func aBusyPlaceIsTriedAgainAfterAPauseAndNotForEver(
    code: LinkFailure.Code
  ) {
    var configuration = DialSequence.Configuration()
    configuration.busyRetries = 2
    var sequence = DialSequence(configuration)
    let busy = LinkFailure(code)
    #expect(sequence.start([first], at: start) == [.open(step: 1, first)])
    #expect(sequence.failed(1, busy, at: start) == [])
    #expect(sequence.nextDeadline == after(0.1))
    #expect(sequence.deadlineReached(at: after(0.05)) == [])
    #expect(sequence.deadlineReached(at: after(0.1)) == [.open(step: 2, first)])
    #expect(sequence.failed(2, busy, at: after(0.1)) == [])
    #expect(sequence.deadlineReached(at: after(0.2)) == [.open(step: 3, first)])
    let loss = DialSequence.Loss(subject: first.description, failure: busy)
    #expect(sequence.failed(3, busy, at: after(0.2)) == [.finished(.failed([loss]))])
  }

  @Test func aConnectThatIsStrandedInTwoLooksIsMadeAnew() {
    var configuration = DialSequence.Configuration()
    configuration.checkPause = .milliseconds(250)
    var sequence = DialSequence(configuration)
    #expect(sequence.start([first], at: start) == [.open(step: 1, first)])
    #expect(sequence.nextDeadline == after(0.25))
    #expect(sequence.deadlineReached(at: after(0.2)) == [])
    #expect(sequence.deadlineReached(at: after(0.25)) == [.check(step: 1)])
    #expect(sequence.stranded(1, at: after(0.25)) == [], "the two links are there together for a moment")
    #expect(sequence.nextDeadline == after(0.5))
    #expect(sequence.deadlineReached(at: after(0.5)) == [.check(step: 1)])
    #expect(sequence.stranded(1, at: after(0.5)) == [.drop(step: 1)])
    #expect(sequence.stranded(1, at: after(0.5)) == [])
    #expect(sequence.connected(1) == [])
    #expect(sequence.nextDeadline == after(0.6))
    #expect(sequence.deadlineReached(at: after(0.6)) == [.open(step: 2, first)])
    #expect(sequence.connected(2) == [.finished(.connected(step: 2))])
  }

  @Test func looksTakeNoTimeFromADial() {
    var configuration = DialSequence.Configuration()
    configuration.checkPause = .seconds(3)
    var sequence = DialSequence(configuration)
    _ = sequence.start([first], at: start)
    for second in [3.0, 6, 9] { #expect(sequence.deadlineReached(at: after(second)) == [.check(step: 1)]) }
    #expect(sequence.nextDeadline == after(10))
    #expect(sequence.deadlineReached(at: after(10)).first == .close(step: 1))
    #expect(sequence.nextDeadline == nil)
    // Stranded again and again, it still ends.
    var stranded = DialSequence(configuration)
    var effects = stranded.start([first], at: start)
    var ends = 0
    while let next = stranded.nextDeadline, ends < 100 {
      effects = stranded.deadlineReached(at: next)
      for case .check(let step) in effects { effects += stranded.stranded(step, at: next) }
      ends += 1
    }
    guard case .finished(.failed)? = effects.last else {
      Issue.record("\(effects)")
      return
    }
  }

  @Test func nobodyTakesTheTimeOfTheOthers() {
    var sequence = DialSequence()
    _ = sequence.start([first, second], at: start)
    #expect(sequence.nextDeadline == after(5))
    #expect(sequence.deadlineReached(at: after(5)) == [.close(step: 1), .open(step: 2, second)])
    #expect(sequence.nextDeadline == after(10))
    let effects = sequence.deadlineReached(at: after(10))
    guard effects.count == 2, case .finished(.failed(let losses)) = effects[1] else {
      Issue.record("\(effects)")
      return
    }
    #expect(effects[0] == .close(step: 2))
    #expect(losses.map(\.failure.code) == [.timedOut, .timedOut])
  }

  @Test func aDeviceThatMayBeAskingItsUserIsGivenMoreTimeOnceAndTheReasonSaysSo() {
    var sequence = DialSequence()
    _ = sequence.start([first], at: start)
    #expect(sequence.deadlineReached(at: after(9), mayAsk: true) == [], "too early")
    #expect(sequence.nextDeadline == after(10))
    #expect(sequence.deadlineReached(at: after(10), mayAsk: true) == [])
    #expect(sequence.nextDeadline == after(25))
    let words = "no answer; the other machine may be asking its user to allow the connection"
    let loss = DialSequence.Loss(subject: first.description, failure: LinkFailure(.timedOut, words))
    #expect(
      sequence.deadlineReached(at: after(25), mayAsk: true) == [.close(step: 1), .finished(.failed([loss]))])
  }

  @Test func anAnswerInTheLongerTimeConnects() {
    var sequence = DialSequence()
    _ = sequence.start([first], at: start)
    _ = sequence.deadlineReached(at: after(10), mayAsk: true)
    #expect(sequence.connected(1) == [.finished(.connected(step: 1))])
  }

  @Test func theLongerTimeIsSharedAndALinkThatIsGoneHintsAtNobody() {
    var sequence = DialSequence()
    _ = sequence.start([first, second], at: start)
    #expect(sequence.deadlineReached(at: after(5), mayAsk: true) == [])
    #expect(sequence.nextDeadline == after(15))
    #expect(sequence.deadlineReached(at: after(15), mayAsk: true) == [.close(step: 1), .open(step: 2, second)])
    #expect(sequence.nextDeadline == after(25))
    let effects = sequence.deadlineReached(at: after(25), mayAsk: false)
    guard effects.count == 2, case .finished(.failed(let losses)) = effects[1] else {
      Issue.record("\(effects)")
      return
    }
    #expect(losses[0].failure.description.contains("its user"))
    #expect(losses[1].failure == LinkFailure(.timedOut, "no answer"))
  }

  @Test func aTimeLimitBeyondTheLongerTimeStays() {
    var configuration = DialSequence.Configuration()
    configuration.timeLimit = .seconds(40)
    var sequence = DialSequence(configuration)
    _ = sequence.start([first], at: start)
    #expect(sequence.nextDeadline == after(40))
    #expect(sequence.deadlineReached(at: after(40), mayAsk: true).count == 2)
  }

  @Test func aQuestionForANumberIsGivenNoMoreTime() {
    var sequence = DialSequence()
    _ = sequence.start([unnumbered], at: start)
    #expect(sequence.deadlineReached(at: after(10), mayAsk: true).count == 2)
  }

  @Test func aCancelClosesWhatIsUnderWayAndEndsOnce() {
    var idle = DialSequence()
    #expect(idle.cancel() == [.finished(.cancelled)])
    #expect(idle.start([first], at: start) == [])
    var opening = DialSequence()
    _ = opening.start([first], at: start)
    #expect(opening.cancel() == [.close(step: 1), .finished(.cancelled)])
    #expect(opening.cancel() == [])
    var pausing = DialSequence()
    _ = pausing.start([first], at: start)
    _ = pausing.failed(1, LinkFailure(.busy), at: start)
    #expect(pausing.cancel() == [.finished(.cancelled)])
  }

  @Test func noPlaceFailsAtOnceWithWhatIsWrongAlready() {
    var sequence = DialSequence()
    let loss = DialSequence.Loss(subject: "kitchen", failure: LinkFailure(.notAvailable))
    #expect(sequence.start([], losses: [loss], at: start) == [.finished(.failed([loss]))])
  }

  @Test func theListOfPlacesIsBounded() {
    var sequence = DialSequence()
    let many = (1...100).map { BluetoothPlace(device: BluetoothAddress(rawValue: UInt64($0)), port: 3) }
    var effects = sequence.start(many + many, at: start)
    var steps = 0
    while case .open(let step, _)? = effects.first {
      steps += 1
      effects = sequence.failed(step, refused, at: start)
    }
    #expect(steps == DialSequence.Configuration().placeLimit)
  }
}
