/// Whether somebody's deadline may be earlier than when all were asked last. Whoever owns what waits for time holds it
/// and tells it by an observer of that state, so that no function which changes the state has to think of it.
final class DeadlineWatch {
  @exclusivity(unchecked) private var isStale = false

  func changed() { isStale = true }

  /// - Returns: whether all are to be asked again.
  func take() -> Bool {
    guard isStale else { return false }
    isStale = false
    return true
  }
}
