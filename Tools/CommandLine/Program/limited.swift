/// The result of `work`, or nil if that takes longer than `limit`: then it is cancelled, and waited for. Nil also if
/// the calling task is cancelled and `work` therefore returns nil. A time in which this process did not run is not
/// counted.
func limited<Value: Sendable>(to limit: Duration, _ work: @escaping @Sendable () async -> Value?) async -> Value? {
  await withTaskGroup(of: Value?.self) { group in
    group.addTask { await work() }
    group.addTask {
      var time = WaitingTime(limit, at: .now)
      repeat { try? await ContinuousClock().sleep(until: time.end) } while !Task.isCancelled && !time.isOver(at: .now)
      return nil
    }
    let first = await group.next() ?? nil
    group.cancelAll()
    // The work may have ended at that very moment.
    for await other in group { if first == nil, let other { return other } }
    return first
  }
}
