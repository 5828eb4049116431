import PiconetEngine
import PiconetWire

/// One side of a proof in the simulator. It stands for the computation of SPAKE2, without its arithmetic. A
/// confirmation follows from the digits, the connection, both keys, the roles and both shares.
struct SimulatedProof {
  let digits: Int
  let connection: Int
  let isInviter: Bool
  let inviter: PeerID
  let invited: PeerID
  let share: [UInt8]
  var remoteShare: [UInt8] = []

  func confirmation(ofInviter: Bool) -> [UInt8] {
    let shares = isInviter ? share + remoteShare : remoteShare + share
    let number = [digits, connection].flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    return CheapDigest.of(number + inviter.bytes + invited.bytes + shares + [ofInviter ? 1 : 2])
  }
}

/// A node's knowledge of typed codes.
struct TypedCodeState {
  /// The code by which it can be invited.
  var own: TypedCodeID?
  var digits: [TypedCodeID: Int] = [:]
  var proofs: [CodeID: SimulatedProof] = [:]
  /// The code behind each proof of the invited side, and how many answered tries of a code were wrong.
  var tried: [CodeID: TypedCodeID] = [:]
  var unproven: [TypedCodeID: Int] = [:]
  /// Peers that have proven a code to this node.
  var provenPeers: Set<PeerID> = []
  var next: UInt64 = 1

  /// Returns a new number for these digits. The same digits may have several numbers.
  mutating func number(of digits: Int) -> TypedCodeID {
    defer { next += 1 }
    self.digits[TypedCodeID(rawValue: next)] = digits
    return TypedCodeID(rawValue: next)
  }
}

/// Typed codes: the actions of applications, the computations of the driver, and the check that no peer gets more than
/// three tries.
extension World {
  static let typedDigits = 0...9_999

  func setCode(_ node: SimulatedNode) {
    if isCalm { return }
    let code = node.codes.number(of: applicationDice.number(Self.typedDigits))
    node.codes.own = code
    command(.setCode(code), of: node)
  }

  /// Returns the code that a person types for another node, usually the right one.
  func typedCode(for target: Int, _ node: SimulatedNode) -> TypedCodeID? {
    guard persona(node).typesCodeChance > 0, applicationDice.chance(persona(node).typesCodeChance) else { return nil }
    let right = isHostile(target) ? nil : nodes[target].codes.own.flatMap { nodes[target].codes.digits[$0] }
    let digits = applicationDice.chance(70) ? right : nil
    return node.codes.number(of: digits ?? applicationDice.number(Self.typedDigits))
  }

  func codeFailed(_ code: TypedCodeID, left: Int, _ node: SimulatedNode) {
    statistics.wrongCodes += 1
    // The end of an old code says nothing about the next one.
    guard left == 0, node.codes.own == code, !persona(node).keepsOverCode else { return }
    plan(.setCode, of: node, in: applicationDice.milliseconds(1...200))
  }

  func prove(_ id: CodeID, _ step: TypedCodeStep, of node: SimulatedNode) {
    guard let finding = found(id, step, node) else { return }
    answer(node, .codeProven(id, finding), within: 3_000_000)
  }

  private func found(_ id: CodeID, _ step: TypedCodeStep, _ node: SimulatedNode) -> TypedCodeFinding? {
    switch step {
    case .share(let code, let link):
      guard let proof = begin(code, over: link, isInviter: true, node) else { return .failed("gone") }
      node.codes.proofs[id] = proof
      return .share(proof.share)
    case .answer(let code, let link, let share):
      guard var proof = begin(code, over: link, isInviter: false, node) else { return .failed("gone") }
      guard share.first == 4 else { return .unfit }
      proof.remoteShare = share
      node.codes.proofs[id] = proof
      node.codes.tried[id] = code
      node.codes.unproven[code, default: 0] += 1
      if node.codes.unproven[code, default: 0] > 3 { finding("n\(node.index) answers a fourth try of a code") }
      return .answer(share: proof.share, confirmation: proof.confirmation(ofInviter: false))
    case .check(let share, let confirmation):
      guard var proof = node.codes.proofs[id] else { return .failed("over") }
      guard share.first == 4, share != proof.share else { return .unfit }
      proof.remoteShare = share
      guard proof.confirmation(ofInviter: false) == confirmation else { return .wrong }
      node.codes.provenPeers.insert(proof.invited)
      return .confirmed(proof.confirmation(ofInviter: true))
    case .confirm(let confirmation):
      guard let proof = node.codes.proofs[id] else { return .failed("over") }
      guard proof.confirmation(ofInviter: true) == confirmation else { return .wrong }
      node.codes.provenPeers.insert(proof.inviter)
      if let code = node.codes.tried[id] { node.codes.unproven[code, default: 0] -= 1 }
      return .right
    case .end:
      node.codes.proofs[id] = nil
      node.codes.tried[id] = nil
      return nil
    }
  }

  private func begin(
    _ code: TypedCodeID, over link: LinkID, isInviter: Bool, _ node: SimulatedNode
  ) -> SimulatedProof? {
    guard let digits = node.codes.digits[code], let (number, side) = node.links[link] else { return nil }
    let end = connections[number].ends[1 - side].node
    let remote = isHostile(end) ? hostile(end).node.peer : nodes[end].peer
    return SimulatedProof(
      digits: digits, connection: number, isInviter: isInviter, inviter: isInviter ? node.peer : remote,
      invited: isInviter ? remote : node.peer, share: [4] + networkDice.bytes(InviteByCode.shareCount - 1))
  }

  /// Checks that a peer counts as proven only if it has proven a code.
  func checkProof(of peer: ProvenPeer, _ node: SimulatedNode) {
    guard peer.isProven else { return }
    statistics.provenCodes += 1
    if !node.codes.provenPeers.contains(peer.node.peer) {
      finding("n\(node.index) takes \(name(peer.node)) for one that has proven its code")
    }
    if let index = indices[peer.node.peer], isHostile(index) { finding("a hostile node has proven a code") }
  }
}

// MARK: Hostile nodes

extension World {
  /// Invites by a code. A hostile node is never told the digits.
  func hostileInvitesByCode(_ node: HostileNode, _ number: Int) {
    let session = node.sessions[number]
    var share = [4] + node.dice.bytes(InviteByCode.shareCount - 1)
    switch session.attack {
    case .replaysShare: if !overheardShares.isEmpty { share = node.dice.pick(overheardShares) }
    case .unfitShare: share[0] = UInt8(node.dice.number(0...3))
    default: break
    }
    send(.inviteByCode(InviteByCode(timeout: 2_000, share: share, context: [1])), node, number)
    if session.attack == .confirmsUnasked { send(.codeConfirm(node.dice.bytes(32)), node, number) }
  }

  /// Handles the answer of an honest node.
  func answerCode(_ answer: CodeAnswer, _ node: HostileNode, _ number: Int) {
    switch node.sessions[number].attack {
    case .abortsCode:
      send(.withdraw(.cancelled), node, number)
      hostileInvitesByCode(node, number)
    case .reflectsCode: send(.codeConfirm(answer.confirmation), node, number)
    case .replaysShare where !overheardConfirmations.isEmpty:
      send(.codeConfirm(node.dice.pick(overheardConfirmations)), node, number)
    case .leavesCode: comeBack(node, number)
    default: send(.codeConfirm(node.dice.bytes(InviteByCode.confirmationCount)), node, number)
    }
  }

  /// Handles the invitation of an honest node by a code.
  func answer(_ invite: InviteByCode, _ node: HostileNode, _ number: Int) {
    let confirmation = node.dice.bytes(InviteByCode.confirmationCount)
    switch node.sessions[number].attack {
    case .crossing: hostileInvitesByCode(node, number)
    case .confirmsUnasked: send(.accept, node, number)
    case .reflectsCode:
      send(.codeAnswer(CodeAnswer(share: invite.share, confirmation: confirmation, left: 2)), node, number)
    case .replaysShare where !overheardShares.isEmpty && !overheardConfirmations.isEmpty:
      send(
        .codeAnswer(
          CodeAnswer(
            share: node.dice.pick(overheardShares), confirmation: node.dice.pick(overheardConfirmations),
            left: VariableInteger.max)), node, number)
    default:
      send(
        .codeAnswer(
          CodeAnswer(
            share: [4] + node.dice.bytes(InviteByCode.shareCount - 1), confirmation: confirmation,
            left: node.dice.pick([0, 1, VariableInteger.max]))), node, number)
      if node.dice.chance(30) { send(.accept, node, number) }
    }
  }

  /// Records the proofs between honest nodes, as if TLS were broken.
  func overhearCodes(_ frame: Frame) {
    switch frame {
    case .inviteByCode(let invite): overheardShares.append(invite.share)
    case .codeAnswer(let answer):
      overheardShares.append(answer.share)
      overheardConfirmations.append(answer.confirmation)
    case .codeConfirm(let confirmation): overheardConfirmations.append(confirmation)
    default: break
    }
  }
}
