import PiconetEngine
import PiconetWire

/// A hostile node that starts work and gives it up again, never acknowledges, and may read nothing. The answers to it
/// must not pile up.
extension World {
  /// Attacks that go on for a long time.
  static let floods: Set<HostileNode.Attack> = [
    .optionalFlood, .pingFlood, .invitationChurn, .offerChurn, .streamChurn, .removalFlood, .deafResume,
    .introductionChurn, .tunnelChurn, .askFlood, .groupViewFlood, .codeInvitationChurn, .pauseFlood, .deafPings,
  ]

  /// Returns the bytes of one round, which repeats its frames a hundred times.
  func churn(_ session: HostileNode.Session, _ node: HostileNode) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<100 {
      for frame in churnFrames(session, node) { FrameEncoder.append(frame, to: &bytes) }
    }
    return bytes
  }

  private func churnFrames(_ session: HostileNode.Session, _ node: HostileNode) -> [Frame] {
    switch session.attack {
    case .invitationChurn:
      let invite = Invite(
        timeout: UInt64(node.dice.number(0...9_000)), commitment: node.dice.bytes(Invite.nonceCount), context: [1])
      return [.invite(invite), .withdraw(.cancelled)]
    case .offerChurn:
      let offer = ResourceOffer(name: Array("churn".utf8), size: 1_000)
      return [.offer(transfer: 0, offer), .abandon(transfer: 0, .cancelled, detail: "again")]
    case .removalFlood:
      guard let remote = session.remote else { return [] }
      let name = NodeID(peer: remote.peer, incarnation: Incarnation(rawValue: node.dice.word()))
      return [
        .removed(by: name), .removeMember(subject: name, .removed), .removeMember(subject: someMember(node), .removed),
      ]
    case .introductionChurn:
      let introduction = introduction(someMember(node), node)
      return [.introduce(introduction), .withdrawIntroduction(introduction.member, .cancelled)]
    case .tunnelChurn:
      guard let remote = session.remote else { return [] }
      let number = UInt64(2 * node.dice.number(0...50)) + (node.name(in: session) < remote ? 0 : 1)
      let end = Frame.closeTunnel(tunnel: number, .left, detail: "again")
      return node.dice.chance(70)
        ? [.openTunnel(tunnel: number, to: someMember(node)), end]
        : [.offerTunnel(tunnel: number, from: someMember(node), relays: 1), end]
    case .askFlood: return [.askToIntroduce(someMember(node))]
    case .groupViewFlood:
      let members = node.dice.chance(50) ? [Incarnation(rawValue: node.dice.word())] : []
      return [.groupView(GroupView(capacity: 8, smallest: 8, rank: 1, highest: 1, members: members))]
    case .codeInvitationChurn:
      let invite = InviteByCode(
        timeout: UInt64(node.dice.number(0...9_000)), share: [UInt8](repeating: 4, count: InviteByCode.shareCount),
        context: [1])
      return [.inviteByCode(invite), .withdraw(.cancelled)]
    case .pauseFlood:
      let isPaused = node.dice.chance(50)
      return [
        .senderPaused(transfer: 0, isPaused), .receiverPaused(transfer: 0, !isPaused),
        .comparing(transfer: 0, compared: 0),
      ]
    default:
      return [.openStream(stream: 0, name: "deaf"), .resetStream(stream: 0, .cancelled, detail: "again")]
    }
  }

  /// Sends parts of a message that has no end, for a planted fault.
  func endlessMessage(_ node: HostileNode, _ number: Int) {
    guard node.sessions[number].isMember else { return send(.ping(1), node, number) }
    let part = FrameEncoder.encode(.fragment([UInt8](repeating: 7, count: 900)[...]))
    hostileSend(Array(repeatElement(part, count: 2_000).joined()), node, number)
  }

  /// Reads nothing from its link for a while.
  func hearNothing(_ node: HostileNode, _ number: Int) {
    let session = node.sessions[number]
    connections[session.connection].pipes[1 - session.side].stalledUntil = now + 300_000_000
  }
}
