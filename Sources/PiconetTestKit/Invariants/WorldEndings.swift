import PiconetEngine
import PiconetWire

/// What is checked of how attempts and memberships end: with a reason that such an end has, and one that somebody gave.
struct Causes {
  /// Members that were removed by whom.
  var removals: Set<Removal> = []
  /// Invitations that honest applications have declined, and those whose inviters were told so.
  var declined = 0
  var toldDeclined = 0

  struct Removal: Hashable {
    var by: NodeID
    var subject: NodeID
  }
}

extension World {
  /// Every reason that an invitation of ours can end with.
  private static let attemptReasons: Set<Reason> = [
    .declined, .cancelled, .timedOut, .unreachable, .full, .identity, .codeMismatch, .alreadyConnected, .inProgress,
    .shuttingDown, .linkFailed, .left, .selfConnection, .idle, .removed, .restarted, .wrongSession, .limitExceeded,
  ]

  func checkAttempt(_ ending: Ending, _ node: SimulatedNode) {
    if scenario.hostileCount == 0, !Self.attemptReasons.contains(ending.reason) {
      finding("an invitation of n\(node.index) ends with \(ending)")
    }
    if ending.reason == .unreachable, ending.blame == .link, ending.failures.isEmpty,
      ending.detail != "the peer is not in sight"
    {
      finding("n\(node.index) reaches nobody, and no transport says why: \(ending)")
    }
    if ending.reason == .declined, ending.blame == .peer, scenario.hostileCount == 0 {
      causes.toldDeclined += 1
      if causes.toldDeclined > causes.declined { finding("n\(node.index) is told of a refusal that nobody gave") }
    }
  }

  /// A removal is somebody's wish, and everybody knows whose.
  func checkRemoval(_ ending: Ending, of peer: NodeID, at node: SimulatedNode) {
    guard ending.reason == .removed else { return }
    guard let by = ending.by else { return finding("n\(node.index): nobody has removed \(name(peer)): \(ending)") }
    // A hostile member may have said anything.
    if let index = indices[peer.peer], isHostile(index) { return }
    if let index = indices[by.peer], isHostile(index) { return }
    let subject = ending.blame == .peer ? node.node : peer
    if subject == by { finding("\(name(by)) has removed itself") }
    if !causes.removals.contains(Causes.Removal(by: by, subject: subject)), scenario.hostileCount == 0 {
      finding("\(name(by)) has not removed \(name(subject)), as n\(node.index) is told")
    }
  }
}
