import PiconetWire
import Testing

@testable import PiconetEngine

/// A member over LE that is seen over another transport as well.
@Suite("The search for a better way to a member")
struct BetterWayTests {
  private final class Searching {
    let one = OneSided()
    /// How every dial is answered; nil: not at all.
    let answer: LinkFailure.Code?
    let kind: TransportKind
    private(set) var dials: [DialID] = []
    private(set) var cancelled: [DialID] = []

    init(over kind: TransportKind, answered answer: LinkFailure.Code?) {
      self.answer = answer
      self.kind = kind
      one.traits = LinkTraits(kind: .le, remoteAddress: "far")
      _ = one.connected { $0.capabilities = .resume }
    }

    func see(at address: String, signal: Int? = nil) {
      let sighting = Sighting(
        peer: one.far.peer, incarnation: one.far.incarnation, name: "far", info: [:],
        addresses: [TransportAddress(kind: kind, text: address)], signalStrength: signal)
      heed(one.side.take(.discoveryReported(source: "test", .seen(sighting))))
    }

    /// - Parameter each: called each second.
    func pass(seconds: Int, _ each: (Int) -> Void = { _ in }) {
      for second in 0..<seconds {
        each(second)
        for _ in 0..<2 { heed(one.side.wait(.milliseconds(500))) }
      }
    }

    private func heed(_ outcome: Outcome) {
      for case .ping(let token) in outcome.frames { heed(one.receive(.pong(token))) }
      for effect in outcome.effects {
        switch effect {
        case .dial(let dial, let kind, _):
          #expect(kind == self.kind)
          dials.append(dial)
          if let answer { heed(one.side.take(.dialFailed(dial, LinkFailure(answer)))) }
        case .cancelDial(let dial): cancelled.append(dial)
        default: break
        }
      }
    }
  }

  @Test("begins a round after 0.5, 10, 20, 40 s, however often the peer's signal changes")
  func signal() {
    let search = Searching(over: .tcp, answered: .unreachable)
    search.pass(seconds: 65) { search.see(at: "there", signal: -40 - $0 % 30) }
    #expect(search.dials.count == 3)
    search.see(at: "elsewhere")
    search.pass(seconds: 5)
    #expect(search.dials.count == 4, "a new address is worth a round at once")
  }

  @Test(
    "dials a transport that refuses once, until it leads elsewhere",
    arguments: [LinkFailure.Code.refused, .authentication])
  func refused(_ code: LinkFailure.Code) {
    let search = Searching(over: .l2cap, answered: code)
    search.see(at: "there")
    search.pass(seconds: 1000) { search.see(at: "there", signal: -40 - $0 % 30) }
    #expect(search.dials.count == 1)
    search.see(at: "elsewhere")
    search.pass(seconds: 1000)
    #expect(search.dials.count == 2)
    #expect(search.one.side.census.members == 1)
  }

  @Test("does not ask a peer again over BR/EDR that has not answered: its user may have been asked")
  func unanswered() {
    for answer in [LinkFailure.Code.timedOut, nil] {
      let search = Searching(over: .l2cap, answered: answer)
      search.see(at: "there")
      search.pass(seconds: 1000)
      #expect(search.dials.count == 1)
      #expect(search.cancelled == (answer == nil ? search.dials : []))
    }
  }

  @Test("goes on now and then over a transport that asks no user")
  func goesOn() {
    let search = Searching(over: .tcp, answered: .timedOut)
    search.see(at: "there")
    search.pass(seconds: 1000)
    #expect(search.dials.count == 8)
  }
}
