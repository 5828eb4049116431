import PiconetTerminal
import Synchronization

/// The files under way: the tasks that watch them report their progress, and one task shows it ten times a second, so
/// that a slow terminal holds up nothing else. It sleeps while nothing is under way. Any thread may use it.
final class TransferBoard: Sendable {
  typealias Key = ProgressFold.Key
  typealias Gathered = ProgressFold.Gathered

  private struct State {
    var progress: ProgressFold
    var budget = ProgressBudget(.now)
    /// The file whose progress was reported last: next are those after it.
    var last: UInt64 = 0

    /// Takes out files that have made progress that may be reported, each in its turn.
    mutating func takeProgress(at now: ContinuousClock.Instant) -> [ProgressFold.File] {
      let files = progress.files
      let next = files.firstIndex { $0.key.number > last } ?? 0
      var taken: [ProgressFold.File] = []
      for index in [Int](files.indices[next...]) + files.indices[..<next] {
        let file = files[index]
        guard file.isTold, file.done != file.shown, budget.take(isTrusted: file.isTrusted, at: now) else { continue }
        progress.show(index)
        last = file.key.number
        taken.append(file)
      }
      return taken
    }
  }

  private let console: Console
  private let findCut: (@Sendable () async -> Set<TransferPeer>)?
  private let state: Mutex<State>
  private let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

  /// How many looks at the progress there are to one at the links.
  private static let looksPerCut = 5

  /// - Parameters:
  ///   - isCounting: whether the files are counted beforehand, see `count`.
  ///   - findCut: finds the peers that nothing can get to at the moment; called while a bar is shown.
  init(console: Console, isCounting: Bool = false, findCut: (@Sendable () async -> Set<TransferPeer>)? = nil) {
    self.console = console
    self.findCut = findCut
    state = Mutex(State(progress: ProgressFold(isCounting: isCounting)))
    console.follow { [weak self] in self?.state.withLock { $0.progress.files.map(\.name) } ?? [] }
  }

  /// This many files will be sent, as far as is known.
  func count(_ gathered: Gathered) { state.withLock { $0.progress.count(gathered) } }

  /// The files that have been counted so far.
  var gathered: Gathered { state.withLock { $0.progress.gathered ?? Gathered() } }

  /// Whether there are so few that each has a line of its own.
  var areFew: Bool {
    state.withLock { ($0.progress.gathered?.files ?? 0) <= CommandLineLimits.fewFiles }
  }

  /// Files will go to this peer.
  func open(_ peer: TransferPeer) {
    state.withLock { $0.progress.open(peer) }
    wake.yield()
  }

  /// No more files go to the peer or come from it.
  func over(_ peer: TransferPeer) { state.withLock { $0.progress.over(peer) } }

  /// A peer that was gone is back, as another one by its numbers.
  func goOn(_ former: TransferPeer, as peer: TransferPeer) { state.withLock { $0.progress.goOn(former, as: peer) } }

  /// - Parameters:
  ///   - isTrusted: whether a person lets the peer push, or has chosen it.
  ///   - isTold: whether the file was reported; if not, its progress isn't, either.
  func begin(_ file: String, peer: TransferPeer, total: Int64, isTrusted: Bool = true, isTold: Bool = true) -> Key {
    let key = state.withLock {
      $0.progress.begin(file, peer, total: total, isTrusted: isTrusted, isTold: isTold)
    }
    wake.yield()
    return key
  }

  /// - Parameter resumedFrom: how many of these bytes an earlier transfer had stored.
  func progressed(_ key: Key, done: UInt64, resumedFrom: UInt64) {
    state.withLock {
      $0.progress.progress(key, done: Int64(clamping: done), resumedFrom: Int64(clamping: resumedFrom))
    }
  }

  /// As `progressed`, for what a side reads to compare it.
  func compared(_ key: Key, done: UInt64) {
    state.withLock { $0.progress.compare(key, done: Int64(clamping: done)) }
  }

  /// The size of the file is known only now.
  func begins(_ key: Key, total: UInt64) {
    state.withLock { $0.progress.begins(key, total: Int64(clamping: total)) }
  }

  /// - Parameters:
  ///   - isStored: whether it has crossed the link; otherwise it was there, or has failed.
  ///   - resumedFrom: see `progressed`.
  /// - Returns: the file as it is then; nil: it has ended before.
  @discardableResult
  func end(
    _ key: Key, isStored: Bool = false, resumedFrom: UInt64 = 0, at now: ContinuousClock.Instant = .now
  ) -> ProgressFold.File? {
    state.withLock {
      $0.progress.end(key, isStored: isStored, resumedFrom: Int64(clamping: resumedFrom), at: now)
    }
  }

  /// Whether the peer may have all bytes of a file that is under way to it.
  func mayBeWhole(_ peer: TransferPeer) -> Bool { state.withLock { $0.progress.mayBeWhole(peer) } }

  /// Shows progress until the task is cancelled.
  func show() async {
    let clock = ContinuousClock()
    var looks = 0
    for await _ in wakes {
      while tick(at: .now), !Task.isCancelled {
        looks += 1
        if console.hasBar, looks.isMultiple(of: Self.looksPerCut), let cut = await findCut?() {
          state.withLock { $0.progress.cut(cut) }
        }
        try? await clock.sleep(for: TerminalLimits.progressInterval)
      }
    }
  }

  /// - Returns: whether something is under way.
  @discardableResult
  func tick(at now: ContinuousClock.Instant) -> Bool {
    let (bars, events) = state.withLock { state -> ([ProgressBar], [ProgramEvent]) in
      state.progress.measure(at: now)
      let events = console.isJSON ? state.takeProgress(at: now).map { ProgramEvent.progress(Self.progress($0)) } : []
      return (state.progress.bars(at: now), events)
    }
    for event in events { console.tell(event) }
    if bars.isEmpty { console.clearBars() } else { console.draw(bars, at: now) }
    return !bars.isEmpty
  }

  private static func progress(_ file: ProgressFold.File) -> ProgramEvent.Progress {
    ProgramEvent.Progress(
      peer: file.peer.fingerprint, file: file.name, done: file.done, total: file.total,
      isComparing: file.isComparing, rate: file.rate.bytesPerSecond.map { Int64(min($0, 9e18)) },
      remaining: file.rate.timeLeft(forBytes: file.total - file.done).map { $0.components.seconds })
  }
}
