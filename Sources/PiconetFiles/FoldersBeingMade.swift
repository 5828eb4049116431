import Synchronization

/// Folders that a commit is just making: they are visible, but may not be on the disk yet. Another commit that finds
/// one must make sure that it is, before a file in it counts as stored. Any thread may use it.
final class FoldersBeingMade: Sendable {
  /// How many commits are making each: at most as many as there are files under way.
  private let counts = Mutex<[[SafeFileName]: Int]>([:])

  /// Whether a folder may not be on the disk yet.
  func contains(_ components: [SafeFileName]) -> Bool { counts.withLock { $0[components] != nil } }

  /// Runs `make`, which makes the folder and its entry durable.
  func making<Value, Failure: Error>(
    _ components: [SafeFileName], _ make: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    counts.withLock { $0[components, default: 0] += 1 }
    defer {
      counts.withLock { counts in
        let left = (counts[components] ?? 0) - 1
        counts[components] = left > 0 ? left : nil
      }
    }
    return try make()
  }
}
