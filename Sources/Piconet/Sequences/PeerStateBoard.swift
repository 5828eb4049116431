import PiconetEngine
import PiconetWire
import Synchronization

/// Hands changes of peers' states from the loop to tasks, and shows how all stand now.
final class PeerStateBoard: Sendable {
  let changes = HappeningQueue<PeerStateChange>(limit: 4096)
  private let states = Mutex<[NodeID: PeerState]>([:])

  var current: [NodeID: PeerState] { states.withLock { $0 } }

  func changed(_ node: NodeID, name: String, _ condition: PeerCondition) {
    let state = PeerState(condition, peer: node)
    states.withLock { states in
      switch state {
      case .unavailable, .disconnected: states[node] = nil
      case .available, .connecting, .connected, .suspended: states[node] = state
      }
    }
    changes.push(PeerStateChange(peer: node, name: name, state: state))
  }

  func finish() {
    states.withLock { $0 = [:] }
    changes.finish()
  }
}
