/// Notes whether some owner's deadline may be earlier than when all were last asked. Each owner of state that waits for
/// time holds the watch, and marks it in a property observer of that state, so that no function that changes the state
/// has to think of it. Whether anybody may dial us follows from such state alone, and is asked at the same times.
final class DeadlineWatch {
  @exclusivity(unchecked) private var isStale = false

  func changed() { isStale = true }

  /// - Returns: whether all must be asked again.
  func take() -> Bool {
    guard isStale else { return false }
    isStale = false
    return true
  }
}
