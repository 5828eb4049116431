/// One thing that can happen next: at which of the two nodes, and from where.
struct Choice: Hashable {
  var side: Int
  var source: Int
}

/// Every order in which the events of two nodes can happen, each once.
///
/// Events at different nodes do not affect each other, so two orders that differ only in how the nodes are interleaved
/// count as one (Godefroid 1996, sleep sets): what counts is the order of each node's own events.
struct Interleavings {
  private struct Step {
    var enabled: [Choice]
    var sleep: Set<Choice>
    var done: Set<Choice> = []
    var chosen: Choice
  }

  private var steps: [Step] = []
  private var depth = 0
  /// This run brings nothing new: all that could happen is part of another order.
  private(set) var isRedundant = false

  /// Runs `body` once for each order, at most `limit` times.
  /// - Returns: how many orders there were; nil if there are more than the limit.
  static func forEach(limit: Int, _ body: (inout Interleavings) throws -> Void) rethrows -> Int? {
    var orders = Interleavings()
    var count = 0
    repeat {
      guard count < limit else { return nil }
      try body(&orders)
      if !orders.isRedundant { count += 1 }
    } while orders.advance()
    return count
  }

  /// Chooses what happens next from all that can; nil at the end of the run.
  mutating func pick(_ enabled: [Choice]) -> Choice? {
    defer { depth += 1 }
    if depth < steps.count { return steps[depth].chosen }
    var sleep: Set<Choice> = []
    if let last = steps.last {
      sleep = last.sleep.union(last.done).filter { $0.side != last.chosen.side }
    }
    guard let chosen = enabled.first(where: { !sleep.contains($0) }) else {
      isRedundant = !enabled.isEmpty
      return nil
    }
    steps.append(Step(enabled: enabled, sleep: sleep, chosen: chosen))
    return chosen
  }

  private mutating func advance() -> Bool {
    depth = 0
    isRedundant = false
    while var step = steps.popLast() {
      step.done.insert(step.chosen)
      if let next = step.enabled.first(where: { !step.sleep.contains($0) && !step.done.contains($0) }) {
        step.chosen = next
        steps.append(step)
        return true
      }
    }
    return false
  }
}
