import Piconet

/// Tells when a member can't be reached for the moment, and when it is reached again.
final class ReachNotes: Sendable {
  private let console: Console
  private let side: TransferFailure.Side
  private let suspended = Guarded<[NodeID: ContinuousClock.Instant]>([:])
  /// At the receiver: how often strangers may be told of, and who was not.
  private let breaks = Guarded(NoticeBudget(ofKey: NoticeBudget.memberBurst, ofAddress: NoticeBudget.memberBurst))
  private let suppressed = Guarded<Set<NodeID>>([])

  init(console: Console, side: TransferFailure.Side) {
    self.console = console
    self.side = side
  }

  func tell(_ change: MembershipChange, at now: ContinuousClock.Instant = .now) {
    switch change {
    case .joined: break
    case .suspended(let member, let error):
      suspended.change { $0[member.id] = now }
      guard isTold(member.proven, now) else { return }
      let failure = TransferFailure(error, on: side)
      console.tell(
        .suspended(
          Event.Suspended(
            peer: member.proven.fingerprint.description, name: member.proven.petname, reason: failure.word,
            message: failure.message)))
      console.note(
        "\(console.safe(member.proven.petname)) can't be reached: \(console.safe(failure.message)); searching for another way"
      )
    case .resumed(let member, let transport), .moved(let member, let transport):
      let since = suspended.change { $0.removeValue(forKey: member.id) }
      if suppressed.change({ $0.remove(member.id) }) != nil { return }
      console.tell(
        .resumed(
          Event.Resumed(
            peer: member.proven.fingerprint.description, name: member.proven.petname, transport: "\(transport)")))
      let name = console.safe(member.proven.petname)
      if let since {
        let tenths = max(0, Int64((now - since) / .milliseconds(100)))
        // At once is nothing that anybody waited for.
        let time = tenths > 0 ? ", after \(tenths / 10).\(tenths % 10) s" : ""
        console.note("\(name) is reached again, over \(transport)\(time)")
      } else {
        console.note("\(name) is now reached over \(transport)", detail: 1)
      }
    case .left(let member, _):
      suspended.change { $0[member.id] = nil }
      suppressed.change { _ = $0.remove(member.id) }
    }
  }

  private func isTold(_ peer: ProvenMember, _ now: ContinuousClock.Instant) -> Bool {
    guard side == .receiver, peer.known == nil else { return true }
    let isTold = breaks.change { $0.take(peer.fingerprint, at: peer.remoteHost, now) } != nil
    if !isTold { suppressed.change { _ = $0.insert(peer.id) } }
    return isTold
  }
}
