import Synchronization

/// The places for counted files (`imagerecv --count`), as `FilePlaceTable` assigns them.
final class FilePlaces: Sendable {
  private struct State {
    var table: FilePlaceTable
    var nextPlace: FilePlaceTable.Place = 1
    var waiting: [FilePlaceTable.Place: CheckedContinuation<Bool, Never>] = [:]
    /// How each file is given up.
    var giveUp: [FilePlaceTable.Place: @Sendable () -> Void] = [:]
    /// Files asked to give way before it was known how to give them up.
    var overdue: Set<FilePlaceTable.Place> = []
  }

  private let state: Mutex<State>

  /// - Parameter patience: how long a file may stall while others wait.
  init(_ count: Int, patience: Duration) {
    state = Mutex(State(table: FilePlaceTable(count, patience: patience)))
  }

  /// Waits for a place.
  /// - Returns: nil if the task was cancelled meanwhile.
  func enter(_ sender: String) async -> FilePlaceTable.Place? {
    let place = state.withLock { state in
      defer { state.nextPlace += 1 }
      return state.nextPlace
    }
    let isIn = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Bool? in
          if Task.isCancelled { return false }
          if state.table.enter(place, sender, at: .now) { return true }
          state.waiting[place] = continuation
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.table.cancel(place) ? state.waiting.removeValue(forKey: place) : nil
      }
      waiter?.resume(returning: false)
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
    let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      state.giveUp[place] = nil
      state.overdue.remove(place)
      return state.table.leave(place, isUsed: isUsed, at: .now).flatMap { state.waiting.removeValue(forKey: $0) }
    }
    next?.resume(returning: true)
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
