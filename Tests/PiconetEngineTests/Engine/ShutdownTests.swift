import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Shutting down")
struct ShutdownTests {
  private let nothing = Side(node(1)).census

  private func finishedCount(_ outcome: Outcome) -> Int { outcome.effects.count { $0 == .finished } }

  @Test("an engine with nothing is finished at once, and refuses everything afterwards")
  func empty() {
    let one = OneSided()
    let outcome = one.side.command(.shutDown, id: 1)
    #expect(outcome.effects == [.reply(CommandID(rawValue: 1), .done), .finished])
    #expect(one.side.command(.shutDown, id: 2).replies(to: 2) == [.failed(Ending(.shuttingDown, .us))])
    #expect(one.invite(id: 3).effects == [.reply(CommandID(rawValue: 3), .failed(Ending(.shuttingDown, .us)))])
    #expect(one.side.take(.linkOpened(one.link, one.opening())).effects == [.closeLink(one.link, flush: false)])
    #expect(one.side.census == nothing)
  }

  @Test("everything ends with its reply, and `finished` comes once")
  func everything() {
    let one = OneSided().connected()
    one.side.answersDisk = false
    one.receive(.offer(transfer: 0, ResourceOffer(name: [1], size: 9)))
    one.side.command(.offer(TransferID(rawValue: 5), to: one.far, ResourceOffer(name: [2], size: 9)), id: 5)
    one.invite(id: 6)
    one.side.take(.linkOpened(LinkID(rawValue: 2), one.opening()))
    one.side.take(.messageQueued(one.far, bytes(3), .reliable))
    var outcome = one.side.command(.shutDown, id: 7)
    #expect(outcome.frames.last == .leave(.shuttingDown, detail: ""))
    #expect(outcome.effects.contains(.cancelDial(DialID(rawValue: 1))))
    #expect(finishedCount(outcome) == 0)
    outcome += one.side.take(.linkClosed(one.link, .ended))
    for command: UInt64 in 5...7 { #expect(outcome.replies(to: command).count == 1, "\(command)") }
    #expect(finishedCount(outcome) == 1)
    #expect(outcome.effects.last == .finished)
    #expect(one.side.census == nothing)
    #expect(finishedCount(one.side.wait(.seconds(100))) == 0)
    #expect(one.side.nextDeadline == nil)
  }

  @Test("a remote side that never closes does not hold it up for longer than a leave may take")
  func deafFarSide() {
    let one = OneSided(configuration { $0.leaveTimeout = .seconds(2) }).connected()
    #expect(finishedCount(one.side.command(.shutDown, id: 1)) == 0)
    #expect(finishedCount(one.side.wait(.seconds(2) - .nanoseconds(1))) == 0)
    #expect(finishedCount(one.side.wait(.nanoseconds(1))) == 1)
    #expect(one.side.census == nothing)
  }

  @Test("in every order of two shutdowns and a transfer both end with nothing, once")
  func bothShutDown() {
    let orders = TwoSided.inEveryOrder {
      let two = TwoSided().connected()
      let far = two.sides[1].node
      two.scripts[0] = [
        { $0.command(.offer(TransferID(rawValue: 3), to: far, ResourceOffer(name: [1], size: 9)), id: 3) },
        { $0.command(.shutDown, id: 1) },
      ]
      two.scripts[1] = [{ $0.command(.shutDown, id: 1) }]
      two.reactions[1] = { _, event in
        guard case .offerReceived(let transfer, _, _) = event else { return nil }
        return .commanded(CommandID(rawValue: 50), .acceptOffer(transfer, offset: 0))
      }
      return two
    } fault: { two in
      for (index, side) in two.sides.enumerated() {
        if side.census != nothing { return "\(index) holds \(side.census)" }
        if finishedCount(side.log) != 1 { return "\(index) finished \(finishedCount(side.log)) times" }
        if side.log.replies(to: 1) != [.done] { return "\(index) was told \(side.log.replies(to: 1))" }
      }
      return two.sides[0].log.replies(to: 3).count == 1 ? nil : "the offer has no single reply"
    }
    #expect(orders >= 10)
  }
}

@Suite("What every engine keeps to")
struct EngineHabitTests {
  @Test("the same seed and the same facts give the same effects", arguments: 0..<5 as Range<UInt64>)
  func determinism(seed: UInt64) {
    func run() -> [[Effect]] {
      var random = SeededRandom(seed: seed)
      let two = TwoSided()
      two.scripts = [[two.invite(from: 0, id: 1)], [two.invite(from: 1, id: 1)]]
      two.run(&random)
      return two.sides.map(\.log.effects)
    }
    #expect(run() == run())
  }

  @Test("another seed gives the association another name")
  func seedsDiffer() {
    func associate(_ seed: UInt64) -> [UInt64] {
      let engine = SessionEngine(identity: LocalIdentity(node: node(1)), configuration: configuration(), seed: seed)
      return [engine.turn.random.next(), engine.turn.random.next()]
    }
    #expect(associate(1) == associate(1))
    #expect(associate(1) != associate(2))
  }

  /// Facts and commands about things that the engine has never heard of.
  static let unknown: [Fact] = [
    .messagesConsumed(node(77), byteCount: 9), .discoveryEnded(source: "x"),
    .discoveryReported(source: "x", .gone(peer(77), Incarnation(rawValue: 1))),
    .dialFailed(DialID(rawValue: 77), LinkFailure(.refused)), .received(LinkID(rawValue: 77), [1, 2, 3]),
    .transmitted(LinkID(rawValue: 77), byteCount: 9), .linkClosed(LinkID(rawValue: 77), .ended),
    .trustJudged(LinkID(rawValue: 77), .known), .codeDerived(CodeID(rawValue: 77), nil),
    .nonceDrawn(CodeID(rawValue: 77), nil),
    .chunksRead(TransferID(rawValue: 77), frames: [1], payloadCount: 1),
    .sourceFinished(TransferID(rawValue: 77), someDigest),
    .sourceFailed(TransferID(rawValue: 77), .internalError, detail: ""),
    .chunkStored(TransferID(rawValue: 77), upTo: 9), .committed(TransferID(rawValue: 77), name: [1]),
    .storeFailed(TransferID(rawValue: 77), .internalError, detail: ""), .deadlineReached,
    .trustJudged(LinkID(rawValue: 1), .refused(.identity, detail: "")), .codeDerived(CodeID(rawValue: 1), nil),
  ]

  @Test("facts about what is unknown, or long answered, have no effect", arguments: unknown)
  func unknownFacts(fact: Fact) {
    let one = OneSided().connected()
    let before = one.side.census
    #expect(one.side.take(fact).effects == [])
    #expect(one.side.census == before)
  }

  @Test("a link of an unknown dial is closed")
  func unknownDial() {
    let one = OneSided()
    #expect(
      one.side.take(.linkOpened(one.link, one.opening(dial: DialID(rawValue: 77)))).effects
        == [.closeLink(one.link, flush: false)])
  }
}
