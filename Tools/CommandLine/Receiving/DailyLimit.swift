import Piconet
import Synchronization

/// What strangers may send today, for the transfers that run at the same time.
///
/// An offer for which there is enough unless all comes that its sender has under way waits for those transfers: the
/// sender of a file that was here already learns that a moment before it is settled, and may offer the next one by
/// then.
final class DailyLimit: Sendable {
  private struct State: AwaitedState {
    struct Need: Sendable {
      let bytes: Int64
      let key: PeerID
    }

    static let servesInTurns = false
    var allowance: StrangerAllowance
    var waiters = Waiters<Need, Bool>()

    mutating func answer(to need: Need) -> Bool? { allowance.take(need.bytes, from: need.key, at: .now) }
  }

  private let state: Mutex<State>

  init(_ limit: Int64) { state = Mutex(State(allowance: StrangerAllowance(limit: limit))) }

  /// Takes so many bytes from the day of this key; to be settled once the transfer is over.
  /// - Returns: false, and nothing is taken, if less is left, or the task was cancelled while it waited.
  func take(_ bytes: Int64, from key: PeerID) async -> Bool {
    await state.wait(for: State.Need(bytes: bytes, key: key), ifCancelled: false)
  }

  /// - Parameter came: how much has come, whatever became of the file.
  func settle(_ taken: Int64, came: Int64, from key: PeerID) {
    state.change { $0.allowance.settle(taken, came: came, from: key) }
  }
}
