import Piconet
import Synchronization

/// What strangers may send today, for the transfers that run at the same time.
///
/// If enough is left for an offer only once its sender's other transfers turn out smaller than they may be, the offer
/// waits for them: the sender of a file that was here already learns so a moment before that is settled, and may have
/// offered the next one by then.
final class DailyLimit: Sendable {
  private struct State: AwaitedState {
    struct Need: Sendable {
      let bytes: Int64
      let key: PeerID
    }

    static let servesInTurns = false
    let now: @Sendable () -> ContinuousClock.Instant
    var allowance: StrangerAllowance
    /// Content of which a kept part may be resumed: one transfer at a time does so.
    var resuming: Set<DailyShare.Content> = []
    var waiters = Waiters<Need, StrangerAllowance.Answer>()

    mutating func answer(to need: Need) -> StrangerAllowance.Answer? {
      allowance.take(need.bytes, from: need.key, at: now())
    }
  }

  private let state: Mutex<State>

  init(_ limit: Int64, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    state = Mutex(State(now: now, allowance: StrangerAllowance(limit: limit)))
  }

  /// Takes what is missing of an offer from its sender's allowance for the day.
  /// - Parameter kept: how many bytes of it seem to be here; asked if it may go on behind them.
  /// - Returns: nil, and nothing is taken, if less is left, or the task was cancelled while it waited.
  func share(of content: DailyShare.Content, kept: @Sendable () async -> UInt64) async -> DailyShare? {
    let isFirst = !content.identity.isEmpty && state.withLock { $0.resuming.insert(content).inserted }
    // What has come of it before has been counted then.
    let here = isFirst ? await kept() : 0
    if let taking = await take(content.missing(behind: here), from: content.sender) {
      return DailyShare(of: content, taking, mayResume: isFirst, in: self)
    }
    if isFirst { state.withLock { _ = $0.resuming.remove(content) } }
    return nil
  }

  /// Takes this many bytes from the day of this key; to be settled once the transfer is over.
  /// - Returns: nil, and nothing is taken, if less is left, or the task was cancelled while it waited.
  func take(_ bytes: Int64, from key: PeerID) async -> StrangerAllowance.Taking? {
    await state.wait(for: State.Need(bytes: bytes, key: key), ifCancelled: .beyond).taking
  }

  /// Takes what a transfer needs beyond that, without waiting.
  /// - Returns: what is taken now, in place of `taking`; nil if less is left: then `taking` holds.
  func extend(_ taking: StrangerAllowance.Taking, to bytes: Int64) -> StrangerAllowance.Taking? {
    state.withLock { $0.allowance.extend(taking, to: bytes, at: $0.now()) }
  }

  /// - Parameters:
  ///   - came: how much has come, whatever became of the file.
  ///   - resumed: content that another transfer may go on with from now on.
  func settle(_ taking: StrangerAllowance.Taking, came: Int64, releasing resumed: DailyShare.Content? = nil) {
    state.change { state in
      state.allowance.settle(taking, came: came)
      if let resumed { state.resuming.remove(resumed) }
    }
  }
}
