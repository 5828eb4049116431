import Piconet

extension MemberRoute {
  /// The relays' keys, as programs are told of them.
  var relayFingerprints: [String] { relays.map { $0.peer.description } }
}

/// Reports when a member can't be reached for the moment, and when it is reached again or over another link.
final class ReachNotes: Sendable {
  private let console: Console
  private let side: TransferFailure.Side
  /// Those that a member may now be reached over.
  private let relays: RelayMemberships
  private let suspended = Guarded<[NodeID: ContinuousClock.Instant]>([:])
  /// A peer can break its links, and make others, as often as it likes.
  private let changes = Guarded(NoticeBudget(of: NoticeBudget.memberBurst))
  /// Members whose suspension went unreported.
  private let untold = Guarded<Set<NodeID>>([])

  init(console: Console, side: TransferFailure.Side, relays: RelayMemberships = RelayMemberships(all: [])) {
    self.console = console
    self.side = side
    self.relays = relays
  }

  func tell(_ change: MembershipChange, at now: ContinuousClock.Instant = .now) {
    switch change {
    case .joined: break
    case .suspended(let member, let error):
      suspended.change { $0[member.id] = now }
      guard let suppressed = changes.change({ $0.take(member.proven, now) }) else {
        return untold.change { _ = $0.insert(member.id) }
      }
      tell(suspended: member.proven, TransferFailure(error, on: side), suppressed)
    case .resumed(let member, let transport):
      let since = suspended.change { $0.removeValue(forKey: member.id) }
      if untold.change({ $0.remove(member.id) }) != nil { return }
      tell(reached: member, over: transport)
      let tenths = since.map { max(0, Int64((now - $0) / .milliseconds(100))) } ?? 0
      // If it took no time, no one had to wait.
      let time = tenths > 0 ? ", after \(tenths / 10).\(tenths % 10) s" : ""
      console.note("\(console.name(member.proven)) is reached again, over \(transport)\(time)")
      if let route = relays.route(to: member) { console.note(route) }
    case .moved(let member, let transport):
      guard let suppressed = changes.change({ $0.take(member.proven, now) }) else { return }
      tell(reached: member, over: transport, suppressed)
      console.note(
        "\(console.name(member.proven)) is now reached over \(transport)"
          + NoticeBudget.othersNotTold(suppressed), detail: 1)
      // Tell which relays see how much goes, even without `-v`.
      if let route = relays.route(to: member) { console.note(route) }
    case .left(let member, _):
      suspended.change { $0[member.id] = nil }
      untold.change { _ = $0.remove(member.id) }
    }
  }

  private func tell(suspended peer: ProvenMember, _ failure: TransferFailure, _ suppressed: Int) {
    console.tell(
      .suspended(
        ProgramEvent.Suspended(
          peer: peer.fingerprint.description, name: peer.petname, reason: failure.word, message: failure.message,
          suppressed: NoticeBudget.figure(suppressed))))
    console.note(
      "\(console.name(peer)) can't be reached: \(console.safe(failure.message)); searching for another way"
        + NoticeBudget.othersNotTold(suppressed))
  }

  private func tell(reached member: Member, over transport: TransportKind, _ suppressed: Int = 0) {
    let peer = member.proven
    console.tell(
      .resumed(
        ProgramEvent.Resumed(
          peer: peer.fingerprint.description, name: peer.petname, transport: "\(transport)",
          relays: member.route?.relayFingerprints ?? [], suppressed: NoticeBudget.figure(suppressed))))
  }
}
