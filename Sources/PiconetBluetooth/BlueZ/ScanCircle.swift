import PiconetBlueZ

/// A member that scans, and pauses, together with others; confined to the loop.
protocol ScanMember: AnyObject {
  /// Tells it that another member has begun to scan.
  func siblingScans(_ window: ScanWindow)
  /// Tells it whether some member wants all scans to pause.
  func setPauseWanted(_ isWanted: Bool)
  /// Tells it whether all scans have paused; if not, they may go on.
  func setPaused(_ isPaused: Bool)
}

/// Coordinates the scans of one process's nodes: they begin and end together, and pause for each other. Confined to the
/// loop.
///
/// An adapter scans as long as any node wants it to. If each node had its own plan there would be no rest between their
/// scans, and one node's pause would have no effect.
public final class ScanCircle {
  private struct Member {
    let id: ObjectIdentifier
    weak var itself: (any ScanMember)?
    var wantsPause = false
    var isPaused = false
  }

  private var members: [Member] = []
  private var isPauseWanted = false

  public init() {}

  func join(_ member: any ScanMember) {
    members.append(Member(id: ObjectIdentifier(member), itself: member))
    if isPauseWanted { member.setPauseWanted(true) }
  }

  /// Idempotent.
  func leave(_ id: ObjectIdentifier) {
    members.removeAll { $0.id == id }
    tellWanted()
    tellPaused()
  }

  /// Notes that a member's scan has begun: the others join it.
  func scans(_ window: ScanWindow, for id: ObjectIdentifier) {
    for member in members where member.id != id { member.itself?.siblingScans(window) }
  }

  /// Notes that a member wants all scans to pause, or no longer needs that.
  func wantsPause(_ isWanted: Bool, for id: ObjectIdentifier) {
    guard let index = members.firstIndex(where: { $0.id == id }) else { return }
    members[index].wantsPause = isWanted
    tellWanted()
  }

  /// Notes that a member has stopped scanning for that reason, or may scan again.
  func paused(_ isPaused: Bool, for id: ObjectIdentifier) {
    guard let index = members.firstIndex(where: { $0.id == id }) else { return }
    members[index].isPaused = isPaused
    tellPaused()
  }

  private func tellWanted() {
    let isWanted = members.contains(where: \.wantsPause)
    if isWanted == isPauseWanted { return }
    isPauseWanted = isWanted
    for member in members { member.itself?.setPauseWanted(isWanted) }
  }

  private func tellPaused() {
    let isPaused = members.allSatisfy(\.isPaused)
    for member in members { member.itself?.setPaused(isPaused) }
  }
}
