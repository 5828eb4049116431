import PiconetEngine
import PiconetWire

/// Attacks of a hostile node on short codes.
extension World {
  func invite(_ node: HostileNode, timeout: UInt64, nonce: [UInt8]? = nil) -> Frame {
    .invite(
      Invite(
        timeout: timeout, terms: InvitationTerms(rawValue: node.dice.pick([0, 0, 1, 3, VariableInteger.max])),
        commitment: nonce.map { CheapDigest.of($0) } ?? node.dice.bytes(Invite.nonceCount), context: [1, 2, 3]))
  }

  func hostileInvites(_ node: HostileNode, _ number: Int) {
    send(invite(node, timeout: 2_000, nonce: node.sessions[number].nonce), node, number)
  }

  /// Answers an invitation that has come.
  func answer(_ invite: Invite, _ node: HostileNode, _ number: Int) {
    switch node.sessions[number].attack {
    case .crossing: return hostileInvites(node, number)
    case .nonceAtOnce, .nonceTwice, .codeChurn:
      let times = node.sessions[number].attack == .nonceTwice ? 2 : 1
      for _ in 0..<times { send(.codeNonce(node.dice.bytes(Invite.nonceCount)), node, number) }
      if node.dice.chance(50) { return }
    default:
      // From time to time it follows the rules.
      if node.dice.chance(50) { send(.codeNonce(node.dice.bytes(Invite.nonceCount)), node, number) }
    }
    send(.accept, node, number)
  }

  /// Answers the nonce for its own invitation, whose question is on a screen.
  func answerNonce(_ node: HostileNode, _ number: Int) {
    let session = node.sessions[number]
    switch session.attack {
    case .noReveal: return
    case .wrongReveal: send(.codeReveal(node.dice.bytes(Invite.nonceCount)), node, number)
    case .revealTwice: for _ in 0..<2 { send(.codeReveal(session.nonce), node, number) }
    case .codeChurn:
      send(.withdraw(.cancelled), node, number)
      hostileInvites(node, number)
    default:
      send(.codeReveal(session.nonce), node, number)
      if node.dice.chance(20) { send(.admit, node, number) }
    }
  }

  /// Returns one round of an attack on codes, besides the answers.
  func codeFrames(_ session: HostileNode.Session, _ node: HostileNode) -> [Frame] {
    switch session.attack {
    case .confirmsAlone: [.admit]
    case .nonceAtOnce: [.codeNonce(node.dice.bytes(Invite.nonceCount))]
    case .revealTwice: node.dice.chance(20) ? [.codeReveal(session.nonce)] : [.ping(1)]
    case .crossing, .codeChurn, .noReveal:
      node.dice.chance(50)
        ? [.withdraw(.cancelled), invite(node, timeout: 2_000, nonce: session.nonce)] : [.ping(1)]
    default: [monkeyFrame(node)]
    }
  }
}
