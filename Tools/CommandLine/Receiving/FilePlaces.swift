import Piconet
import Synchronization

/// The places for counted files (`imagerecv --count`), as `FilePlaceTable` assigns them.
final class FilePlaces: Sendable {
  private struct State: AwaitedState {
    static var servesInTurns: Bool { false }

    var table: FilePlaceTable
    var nextPlace: FilePlaceTable.Place = 1
    var waiters = Waiters<FilePlaceTable.Place, Bool>()
    /// Whether a file gets in, for those that have not heard it yet.
    var answers: [FilePlaceTable.Place: Bool] = [:]
    /// How each file is given up.
    var giveUp: [FilePlaceTable.Place: @Sendable () -> Void] = [:]
    /// Files asked to give way before it was known how to give them up.
    var overdue: Set<FilePlaceTable.Place> = []

    mutating func answer(to place: FilePlaceTable.Place) -> Bool? { answers.removeValue(forKey: place) }
  }

  private let state: Mutex<State>

  /// - Parameter patience: how long a file may stall while others wait.
  init(_ count: Int, patience: Duration) {
    state = Mutex(State(table: FilePlaceTable(count, patience: patience)))
  }

  /// Waits for a place.
  /// - Returns: nil if the task was cancelled meanwhile.
  func enter(_ sender: String) async -> FilePlaceTable.Place? {
    if Task.isCancelled { return nil }
    let place = state.withLock { state in
      let place = state.nextPlace
      state.nextPlace += 1
      if state.table.enter(place, sender, at: .now) { state.answers[place] = true }
      return place
    }
    let isIn = await withTaskCancellationHandler {
      await state.wait(for: place, ifCancelled: nil)
    } onCancel: {
      state.change { state in
        if state.table.cancel(place) { state.answers[place] = false }
      }
    }
    return isIn ? place : nil
  }

  /// Sets how a file that stalls while others wait is given up; called at most once.
  func whenStanding(_ place: FilePlaceTable.Place, _ giveUp: @escaping @Sendable () -> Void) {
    let isOverdue = state.withLock { state in
      state.giveUp[place] = giveUp
      return state.overdue.remove(place) != nil
    }
    if isOverdue { giveUp() }
  }

  func moved(_ place: FilePlaceTable.Place, done: UInt64, of total: UInt64) {
    state.withLock { $0.table.moved(place, done: done, of: total, at: .now) }
  }

  func compared(_ place: FilePlaceTable.Place) {
    state.withLock { $0.table.compared(place, at: .now) }
  }

  /// - Parameter isUsed: whether the file was stored, so that its place is used up.
  func leave(_ place: FilePlaceTable.Place, isUsed: Bool) {
    state.change { state in
      state.giveUp[place] = nil
      state.overdue.remove(place)
      if let next = state.table.leave(place, isUsed: isUsed, at: .now) { state.answers[next] = true }
    }
  }

  /// Looks for files that stall, until the task is cancelled.
  func watch() async {
    while !Task.isCancelled {
      let standing = state.withLock { state in
        state.table.standing(at: .now).compactMap { place -> (@Sendable () -> Void)? in
          if let giveUp = state.giveUp[place] { return giveUp }
          state.overdue.insert(place)
          return nil
        }
      }
      for giveUp in standing { giveUp() }
      try? await Task.sleep(for: .milliseconds(250))
    }
  }
}
