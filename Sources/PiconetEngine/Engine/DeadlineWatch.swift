/// Notes whether an owner's deadline may have become earlier since all owners were last asked. Each owner of state that
/// waits for time holds the watch. The owner marks it in a property observer of that state, so functions that change
/// the state need not. Whether any peer may dial us follows from such state alone, and is asked at the same times.
final class DeadlineWatch {
  @exclusivity(unchecked) private var isStale = false

  func changed() { isStale = true }

  /// - Returns: whether all owners must be asked again.
  func take() -> Bool {
    guard isStale else { return false }
    isStale = false
    return true
  }
}
