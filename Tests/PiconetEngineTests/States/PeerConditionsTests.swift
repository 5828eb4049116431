import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("The fold of events into states")
struct PeerConditionsTests {
  private let far = node(9)
  private let ending = Ending(.left, .peer)

  private var summary: PeerSummary { PeerSummary(node: far, name: "far", info: [:], addresses: []) }
  private var proven: ProvenPeer {
    ProvenPeer(
      node: far, name: "far", traits: someTraits, association: AssociationID(high: 1, low: 2), isKnown: false,
      messageLimit: 1)
  }

  private func conditions(_ events: [Event]) -> [PeerCondition] {
    events.compactMap { event in
      guard case .stateChanged(far, name: _, let condition) = event else {
        Issue.record("\(event)")
        return nil
      }
      return condition
    }
  }

  @Test("a peer comes into sight, and goes")
  func sight() {
    var states = PeerConditions()
    #expect(states.fold(.peerFound(summary)) == [.stateChanged(far, name: "far", .available)])
    #expect(states.fold(.peerChanged(summary)) == [])
    #expect(states.fold(.peerLost(far)) == [.stateChanged(far, name: "far", .unavailable)])
    #expect(states.fold(.peerLost(far)) == [])
    #expect(states.count == 0)
  }

  @Test("a membership has its three states, whatever is seen meanwhile; in sight it ends as available")
  func membership() {
    var states = PeerConditions()
    #expect(
      conditions(states.fold(.invitationReceived(proven, context: [], expires: seconds(1), comparesCodes: false))) == [
        .connecting
      ])
    #expect(states.fold(.peerFound(summary)) == [])
    #expect(conditions(states.fold(.connected(proven))) == [.connected])
    #expect(states.fold(.peerLost(far)) == [])
    #expect(states.fold(.peerFound(summary)) == [])
    #expect(conditions(states.fold(.disconnected(far, ending))) == [.disconnected(ending), .available])
    #expect(states.count == 1)
  }

  @Test("a membership out of sight ends as disconnected, and takes no room any more")
  func outOfSight() {
    var states = PeerConditions()
    #expect(conditions(states.attemptBegan(far, name: "far")) == [.connecting])
    #expect(conditions(states.fold(.connected(proven))) == [.connected])
    #expect(states.attemptEnded(far, nil) == [])
    #expect(conditions(states.fold(.disconnected(far, ending))) == [.disconnected(ending)])
    #expect(states.count == 0)
  }

  @Test("our own invitation beside the peer's gives one `connecting`, which ends once")
  func bothInvite() {
    var states = PeerConditions()
    #expect(conditions(states.attemptBegan(far, name: nil)) == [.connecting])
    #expect(states.fold(.invitationReceived(proven, context: [], expires: seconds(1), comparesCodes: false)) == [])
    #expect(states.invitationEnded(far, Ending(.cancelled, .peer)) == [])
    #expect(conditions(states.attemptEnded(far, Ending(.timedOut, .peer))) == [.disconnected(Ending(.timedOut, .peer))])
  }

  @Test("a peer that is invited again while its membership ends was disconnected in between")
  func again() {
    var states = PeerConditions()
    _ = states.fold(.connected(proven))
    _ = states.attemptBegan(far, name: nil)
    #expect(conditions(states.fold(.disconnected(far, ending))) == [.disconnected(ending), .connecting])
  }

  @Test(
    "whatever happens in whatever order, states follow one another as they may", arguments: 0..<200 as Range<UInt64>)
  func legal(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var states = PeerConditions()
    var last: PeerCondition?
    for _ in 0..<200 {
      let changes =
        switch Int.random(in: 0..<8, using: &random) {
        case 0: states.fold(.peerFound(summary))
        case 1: states.fold(.peerLost(far))
        case 2: states.fold(.invitationReceived(proven, context: [], expires: seconds(1), comparesCodes: false))
        case 3: states.fold(.invitationEnded(far, ending))
        case 4: last == .connecting ? states.fold(.connected(proven)) : []
        case 5: states.fold(.disconnected(far, ending))
        case 6: states.attemptBegan(far, name: nil)
        default: states.attemptEnded(far, Bool.random(using: &random) ? ending : nil)
        }
      for condition in conditions(changes) {
        #expect(condition.mayFollow(last), "\(condition) after \(String(describing: last))")
        last = condition
      }
    }
  }

  @Test("no state follows itself, and only what was begun ends")
  func illegal() {
    let all: [PeerCondition] = [.available, .unavailable, .connecting, .connected, .suspended, .disconnected(ending)]
    for state in all { #expect(!state.mayFollow(state), "\(state)") }
    for state in [PeerCondition.unavailable, .connected, .suspended, .disconnected(ending)] {
      #expect(!state.mayFollow(nil), "\(state)")
    }
    #expect(!PeerCondition.connected.mayFollow(.available))
    #expect(!PeerCondition.available.mayFollow(.connected))
    #expect(!PeerCondition.disconnected(ending).mayFollow(.available))
    #expect(!PeerCondition.suspended.mayFollow(.connecting))
  }
}
