/// Makes connections over LE wait until the scan pauses: Linux makes none while it scans. Confined to the loop.
///
/// It tells the scanner that a pause is wanted, and the scanner reports when the pause begins.
public final class ScanPause {
  /// Held by a caller that waits for the pause, or uses it.
  public final class Turn {
    fileprivate var begin: (() -> Void)?
    fileprivate init(_ begin: @escaping () -> Void) { self.begin = begin }
  }

  private let wanted: (Bool) -> Void
  private var turns: [Turn] = []
  private var isPaused = false

  /// - Parameter wanted: called when a pause is first wanted, and when none is wanted any more.
  init(wanted: @escaping (Bool) -> Void) { self.wanted = wanted }

  /// The number of callers that use or want the pause.
  var count: Int { turns.count }

  /// Calls `begin` when the scan has paused, possibly from within this call. Call `end` for the turn, before or after
  /// that.
  public func take(_ begin: @escaping () -> Void) -> Turn {
    let turn = Turn(begin)
    turns.append(turn)
    if turns.count == 1 { wanted(true) }
    if isPaused { start(turn) }
    return turn
  }

  /// Ends a turn: its caller no longer needs the pause.
  public func end(_ turn: Turn) {
    turn.begin = nil
    guard let index = turns.firstIndex(where: { $0 === turn }) else { return }
    turns.remove(at: index)
    if turns.isEmpty { wanted(false) }
  }

  /// Notes that the scan has paused, or goes on: turns that have begun are not stopped.
  func setPaused(_ isPaused: Bool) {
    self.isPaused = isPaused
    guard isPaused else { return }
    for turn in turns { start(turn) }
  }

  private func start(_ turn: Turn) {
    let begin = turn.begin
    turn.begin = nil
    begin?()
  }
}
