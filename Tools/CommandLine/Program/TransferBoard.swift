import Synchronization

/// The files that are under way: the tasks that watch them report how far they are, and one task shows it ten times a
/// second, so that a slow terminal holds up nothing else. Any thread may use it.
final class TransferBoard: Sendable {
  struct Key: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  private struct Entry {
    let key: Key
    /// The fingerprint of the peer.
    let peer: String
    let file: String
    /// Whom a person lets push, or has chosen.
    let isTrusted: Bool
    /// Whether the file was told of: otherwise neither is its progress.
    let isTold: Bool
    var total: Int64
    var done: Int64 = 0
    var shown: Int64 = 0
    /// It is compared with what the receiver has.
    var isComparing = false
    var rate = TransferRate()
  }

  private struct State {
    /// In the order of their numbers.
    var entries: [Entry] = []
    var next: UInt64 = 0
    var budget = ProgressBudget(.now)
    /// Whose progress was told last: then it is the turn of those behind it.
    var last: UInt64 = 0

    /// Those that have come further and whose progress may be told, each in its turn.
    mutating func takeProgress(at now: ContinuousClock.Instant) -> [Entry] {
      let next = entries.firstIndex { $0.key.number > last } ?? 0
      var taken: [Entry] = []
      for index in [Int](entries.indices[next...]) + entries.indices[..<next] {
        let entry = entries[index]
        guard entry.isTold, entry.done != entry.shown, budget.take(isTrusted: entry.isTrusted, at: now) else {
          continue
        }
        entries[index].shown = entry.done
        last = entry.key.number
        taken.append(entry)
      }
      return taken
    }
  }

  private let console: Console
  private let state = Mutex(State())

  init(console: Console) { self.console = console }

  /// - Parameters:
  ///   - isTrusted: the peer is one whom a person lets push, or has chosen.
  ///   - isTold: the file was told of; otherwise its progress isn't, either.
  func begin(_ file: String, peer: String, total: Int64, isTrusted: Bool = true, isTold: Bool = true) -> Key {
    state.withLock { state in
      state.next += 1
      let key = Key(number: state.next)
      state.entries.append(
        Entry(key: key, peer: peer, file: file, isTrusted: isTrusted, isTold: isTold, total: total))
      return key
    }
  }

  func progressed(_ key: Key, done: UInt64) {
    state.withLock { state in
      guard let index = state.entries.firstIndex(where: { $0.key == key }) else { return }
      state.entries[index].done = Int64(clamping: done)
      state.entries[index].isComparing = false
    }
  }

  /// As `progressed`, of what a side reads to compare it.
  func compared(_ key: Key, done: UInt64) {
    state.withLock { state in
      guard let index = state.entries.firstIndex(where: { $0.key == key }) else { return }
      state.entries[index].done = Int64(clamping: done)
      state.entries[index].isComparing = true
    }
  }

  /// How much it is becomes known later.
  func begins(_ key: Key, total: UInt64) {
    state.withLock { state in
      guard let index = state.entries.firstIndex(where: { $0.key == key }) else { return }
      state.entries[index].total = Int64(clamping: total)
    }
  }

  func end(_ key: Key) { state.withLock { $0.entries.removeAll { $0.key == key } } }

  /// Shows progress until the task is cancelled.
  func show() async {
    let clock = ContinuousClock()
    while !Task.isCancelled {
      tick(at: .now)
      try? await clock.sleep(for: CommandLineLimits.progressInterval)
    }
  }

  func tick(at now: ContinuousClock.Instant) {
    let (bar, isIdle, events) = state.withLock { state -> (ProgressBar?, Bool, [Event]) in
      for index in state.entries.indices {
        state.entries[index].rate.record(done: state.entries[index].done, at: now)
      }
      let events = console.isJSON ? state.takeProgress(at: now).map { Event.progress(Self.progress($0)) } : []
      // One line, one file: the one that is under way for the longest time.
      let bar = state.entries.first.map { Self.bar($0, others: state.entries.count - 1) }
      return (bar, state.entries.isEmpty, events)
    }
    for event in events { console.tell(event) }
    if let bar { console.draw(bar, at: now) }
    if isIdle { console.clearBar() }
  }

  private static func progress(_ entry: Entry) -> Event.Progress {
    Event.Progress(
      peer: entry.peer, file: entry.file, done: entry.done, total: entry.total,
      isComparing: entry.isComparing, rate: entry.rate.bytesPerSecond.map { Int64($0) },
      remaining: entry.rate.timeLeft(forBytes: entry.total - entry.done).map { $0.components.seconds })
  }

  private static func bar(_ entry: Entry, others: Int) -> ProgressBar {
    ProgressBar(
      name: (entry.isComparing ? "comparing " : "") + LocalPath(entry.file).lastComponent.readable
        + (others > 0 ? " +\(others)" : ""), done: entry.done,
      total: entry.total, bytesPerSecond: entry.rate.bytesPerSecond,
      timeLeft: entry.rate.timeLeft(forBytes: entry.total - entry.done))
  }
}
