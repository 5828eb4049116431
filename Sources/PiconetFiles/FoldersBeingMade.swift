import Synchronization

/// Folders that commits are making just now: they are visible, but may not be on the disk yet. Another commit that
/// finds one must make it durable before a file in it counts as stored. Any thread may use it.
final class FoldersBeingMade: Sendable {
  /// The number of commits that are making each: at most as many as there are files under way.
  private let counts = Mutex<[[SafeFileName]: Int]>([:])

  /// Returns whether a folder may not be on the disk yet.
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
