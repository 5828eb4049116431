import Synchronization

/// The files that are under way: the node's loop reports how far they are, and a task shows it ten times a second, so
/// that a slow terminal never holds up the loop. Any thread may use it.
final class TransferBoard: Sendable {
  struct Key: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  private struct Entry {
    let key: Key
    /// The fingerprint of the peer.
    let peer: String
    let file: String
    var total: Int64
    var done: Int64 = 0
    var shown: Int64 = 0
    /// It is compared with what the receiver has.
    var isComparing = false
    var rate = TransferRate()
  }

  private struct State {
    var entries: [Entry] = []
    var next: UInt64 = 0
  }

  private let console: Console
  private let state = Mutex(State())

  init(console: Console) { self.console = console }

  func begin(_ file: String, peer: String, total: Int64) -> Key {
    state.withLock { state in
      state.next += 1
      let key = Key(number: state.next)
      state.entries.append(Entry(key: key, peer: peer, file: file, total: total))
      return key
    }
  }

  /// Quick: it is called on the node's loop.
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
    var events: [Event] = []
    let (bar, isIdle) = state.withLock { state -> (ProgressBar?, Bool) in
      for index in state.entries.indices {
        let done = state.entries[index].done
        state.entries[index].rate.record(done: done, at: now)
        guard done != state.entries[index].shown else { continue }
        state.entries[index].shown = done
        if console.isJSON { events.append(.progress(Self.progress(state.entries[index]))) }
      }
      // One line, one file: the one that is under way for the longest time.
      return (state.entries.first.map { Self.bar($0, others: state.entries.count - 1) }, state.entries.isEmpty)
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
