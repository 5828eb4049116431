import CPiconetSystem
import Synchronization

/// Lets as many transfers open files as the process has descriptors for; others wait in the order in which they came.
///
/// The limits of a process belong to its program: they are read here, and never changed.
final class OpenFiles: Sendable {
  private struct State: AwaitedState {
    var budget = OpenFileBudget()
    let limit: @Sendable () -> Int
    var waiters = Waiters<OpenFileBudget.Need, Bool>()

    mutating func answer(to need: OpenFileBudget.Need) -> Bool? { budget.take(need, limit: limit()) ? true : nil }
  }

  /// A transfer's place, given back when it is released.
  final class Place: Sendable {
    private let need: OpenFileBudget.Need
    private let files: OpenFiles

    fileprivate init(_ need: OpenFileBudget.Need, _ files: OpenFiles) { (self.need, self.files) = (need, files) }

    deinit { files.state.change { [need] in $0.budget.giveBack(need) } }
  }

  static let ofProcess = OpenFiles { Int(clamping: piconet_descriptor_limit()) }

  /// After this long a transfer goes on without a place: the transfers that have one may be paused, or wait for a peer.
  static let patience = Duration.seconds(20)

  private let state: Mutex<State>

  /// - Parameter limit: returns how many descriptors the process may have.
  init(limit: @escaping @Sendable () -> Int) { state = Mutex(State(limit: limit)) }

  /// Waits until files may be opened.
  /// - Returns: nil if the task was cancelled, or has waited long enough.
  func place(for need: OpenFileBudget.Need, patience: Duration = patience) async -> Place? {
    let isAtOnce = state.withLock { $0.waiters.isEmpty && $0.answer(to: need) == true }
    if isAtOnce { return Place(need, self) }
    let isGiven = await withTaskGroup(of: Bool.self) { group in
      group.addTask { [self] in await state.wait(for: need, ifCancelled: false) }
      group.addTask {
        try? await ContinuousClock().sleep(for: patience)
        return false
      }
      var isGiven = false
      for await answer in group {
        isGiven = isGiven || answer
        group.cancelAll()
      }
      return isGiven
    }
    return isGiven ? Place(need, self) : nil
  }
}
