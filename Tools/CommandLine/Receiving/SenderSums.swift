import Piconet
import Synchronization

/// What became of each sender's files, reported when it has left and the last of them has its outcome. Any thread may
/// use it.
final class SenderSums: Sendable {
  private struct Visit {
    let member: ProvenMember
    var summary = TransferSummary()
    /// Offers without an outcome.
    var underWay = 0
    var hasLeft = false
    /// Files that have a line of their own, or would have one if they were fewer; and the same for those that failed.
    var listed = 0
    var listedFailures = 0
  }

  private let console: Console
  /// A sender can come and go as often as it likes.
  private let budget = Guarded(NoticeBudget(of: NoticeBudget.memberBurst))
  /// For senders that are here or have offers under way.
  private let visits = Mutex<[TransferPeer: Visit]>([:])

  init(console: Console) { self.console = console }

  /// An offer has come; `end` must follow.
  func begin(_ sender: TransferPeer, _ member: ProvenMember) {
    visits.withLock { $0[sender, default: Visit(member: member)].underWay += 1 }
  }

  func record(_ event: ProgramEvent, of sender: TransferPeer, at now: ContinuousClock.Instant = .now) {
    change(sender) { $0.summary.record(event, at: now) }
  }

  /// Whether another file has a line of its own. Says so when the first one has none.
  func listsFile(of sender: TransferPeer) -> Bool {
    if console.listsFiles { return true }
    let listed = change(sender) { $0.listed += 1 }?.listed ?? 0
    if listed == CommandLineLimits.fewFiles + 1 {
      console.note("More files of \(console.name(sender)) are counted; -v lists them")
    }
    return listed <= CommandLineLimits.fewFiles
  }

  /// Whether a failed file is listed; says nothing itself.
  func listsFailure(of sender: TransferPeer) -> Bool {
    if console.listsFailures { return true }
    return change(sender) { $0.listedFailures += 1 }?.listedFailures ?? 0 <= CommandLineLimits.fewFiles
  }

  /// - Returns: the visit as it is then; nil: it is over.
  @discardableResult
  private func change(_ sender: TransferPeer, _ body: (inout Visit) -> Void) -> Visit? {
    visits.withLock { visits in
      guard let index = visits.index(forKey: sender) else { return nil }
      // In its place: the sums grow with the files.
      body(&visits.values[index])
      return visits.values[index]
    }
  }

  /// An offer has had its outcome.
  /// - Parameter isHere: whether the sender is a member.
  /// - Returns: whether nothing more is expected from it.
  func end(_ sender: TransferPeer, isHere: Bool) -> Bool {
    close(sender) { visit in
      visit.underWay -= 1
      visit.hasLeft = visit.hasLeft || !isHere
    }
  }

  /// - Returns: as `end`.
  func left(_ sender: TransferPeer) -> Bool { close(sender) { $0.hasLeft = true } }

  /// The run is at its end.
  func tellAll() {
    let left = visits.withLock { visits in
      defer { visits = [:] }
      return visits
    }
    for (sender, visit) in left.sorted(by: { $0.key.id < $1.key.id }) { tell(visit, of: sender) }
  }

  private func close(_ sender: TransferPeer, _ change: (inout Visit) -> Void) -> Bool {
    let (isOver, visit) = visits.withLock { visits -> (Bool, Visit?) in
      guard var visit = visits[sender] else { return (true, nil) }
      change(&visit)
      let isOver = visit.hasLeft && visit.underWay <= 0
      visits[sender] = isOver ? nil : visit
      return (isOver, visit)
    }
    if isOver, let visit { tell(visit, of: sender) }
    return isOver
  }

  private func tell(_ visit: Visit, of sender: TransferPeer) {
    let lines = visit.summary.lines(safe: console.safe)
    guard !lines.isEmpty, let suppressed = budget.change({ $0.take(visit.member) }) else { return }
    for (number, line) in lines.enumerated() {
      let (start, end) = ("From \(console.name(sender)): ", NoticeBudget.othersNotTold(suppressed))
      console.note(number == 0 ? start + line + end : line)
    }
  }
}
