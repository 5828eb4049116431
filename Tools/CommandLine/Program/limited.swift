/// The result of `work`, or nil if that takes longer than `limit`: then it is cancelled, and waited for. Nil also if
/// the calling task is cancelled and `work` therefore returns nil.
func limited<Value: Sendable>(to limit: Duration, _ work: @escaping @Sendable () async -> Value?) async -> Value? {
  await withTaskGroup(of: Value?.self) { group in
    group.addTask { await work() }
    group.addTask {
      try? await ContinuousClock().sleep(for: limit)
      return nil
    }
    let first = await group.next() ?? nil
    group.cancelAll()
    // The work may have ended at that very moment.
    for await other in group { if first == nil, let other { return other } }
    return first
  }
}
