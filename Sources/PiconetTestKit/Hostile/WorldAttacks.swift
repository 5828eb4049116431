import PiconetEngine
import PiconetWire

/// Attacks of a hostile node that has been let in.
extension World {
  private static func channel(_ number: Int) -> MessageChannel { MessageChannel(number) ?? 1 }

  /// Makes one round of an attack.
  /// - Returns: false if there is nothing more to do.
  func attack(_ node: HostileNode, _ number: Int) -> Bool {
    let session = node.sessions[number]
    // Floods that cost nothing go on much longer.
    let most = Self.floods.contains(session.attack) || scenario.faults.contains(.endlessMessage) ? 60 : 12
    guard session.isAssociated, session.rounds < most else {
      return session.rounds < most && session.attack != .silence
    }
    node.sessions[number].rounds += 1
    func say(_ frames: Frame...) { for frame in frames { send(frame, node, number) } }
    let payload = node.dice.bytes(node.dice.number(1...900))[...]
    switch session.attack {
    case .silence, .garbage, .wrongOrder, .helloTwice: say(monkeyFrame(node))
    case .halfFrame: hostileSend([FrameType.message, 0x40 | 0x3F, 0xFF, 1, 2, 3], node, number)
    case .hugeFrame: hostileSend([FrameType.message, 0xBF, 0xFF, 0xFF, 0xFF], node, number)
    case .wrongReveal, .noReveal, .revealTwice, .nonceAtOnce, .nonceTwice, .crossing, .confirmsAlone, .codeChurn:
      for frame in codeFrames(session, node) { say(frame) }
    case .guessesCode, .abortsCode, .leavesCode, .reflectsCode, .replaysShare, .unfitShare, .confirmsUnasked:
      if node.dice.chance(40) {
        if node.dice.chance(50) { say(.withdraw(.cancelled)) }
        hostileInvitesByCode(node, number)
      } else if node.dice.chance(20) {
        say(.accept)
      } else {
        say(.ping(1))
      }
    case .beforeHello, .beforeAssociate, .beforeMember: say(monkeyFrame(node))
    case .closeAndTalk:
      say(.close(node.dice.pick([.left, .linkFailed, .duplicateLink, .timedOut, .removed]), detail: ""))
      say(.message(payload), invite(node, timeout: 1_000))
    case .stolenAssociation: say(.message(payload), .acknowledge(received: 3))
    case .resumeAhead, .resumeBehind, .resumeTwice:
      say(.message(payload), .unreliableMessage(number: VariableInteger.max, payload))
      if session.rounds > 1 { comeBack(node, number) }
    case .monkey: for _ in 0..<node.dice.number(1...6) { say(monkeyFrame(node)) }
    case .foreignTransfers:
      // Numbers of other peers' transfers.
      let foreign = UInt64(node.dice.number(0...3))
      let frames: [Frame] = [
        .chunk(transfer: foreign, payload), .stored(transfer: foreign, name: Array("x".utf8)),
        .acceptOffer(transfer: foreign, offset: 0, limit: 1 << 40), .abandon(transfer: foreign, .cancelled, detail: ""),
        .refuse(transfer: foreign, .diskFull, detail: ""),
        .transferCredit(transfer: foreign, stored: 1, limit: 1 << 50),
        .declineOffer(transfer: foreign, .notWanted, detail: ""), .senderPaused(transfer: foreign, true),
        .receiverPaused(transfer: foreign, true),
      ]
      say(node.dice.pick(frames))
    case .beyondCredit:
      offer(7, size: 200_000, node, number)
      for accepted in session.accepted {
        for _ in 0..<20 { say(.chunk(transfer: accepted.number, node.dice.bytes(1_000)[...])) }
      }
    case .wrongSize:
      offer(UInt64(session.rounds), size: 100, node, number)
      for accepted in session.accepted {
        let size = node.dice.pick([50, 99, 101, 200])
        say(.chunk(transfer: accepted.number, node.dice.bytes(size)[...]))
        say(end(accepted.number, size: UInt64(node.dice.pick([100, size])), node))
      }
    case .wrongDigest:
      offer(UInt64(session.rounds), size: 100, node, number)
      for accepted in session.accepted {
        say(.chunk(transfer: accepted.number, node.dice.bytes(100)[...]))
        say(end(accepted.number, size: 100, node))
      }
    case .channelFragments:
      // A message in each channel that never ends, regardless of credit.
      for number in 1..<MessageChannel.count { say(.channelFragment(Self.channel(number), payload)) }
    case .channelAboveLimit: for _ in 0..<130 { say(.channelFragment(7, node.dice.bytes(900)[...])) }
    case .channelsBeyondCredit: for _ in 0..<200 { say(.channelMessage(7, payload)) }
    case .channelNotOpen:
      say(.channelCredit(9, limit: 0), .channelCredit(63, limit: VariableInteger.max), .channelMessage(63, payload))
    case .fragmentFlood: for _ in 0..<40 { say(.fragment(payload)) }
    case .messageAboveLimit where scenario.faults.contains(.endlessMessage): endlessMessage(node, number)
    case .messageAboveLimit: for _ in 0..<130 { say(.fragment(node.dice.bytes(900)[...])) }
    case .messagesBeyondCredit: for _ in 0..<60 { say(.message(payload)) }
    case .optionalFlood:
      for _ in 0..<200 {
        let type = UInt8(node.dice.number(0...15))
        // Half of them are sequenced.
        hostileSend([(type.isMultiple(of: 2) ? 0xA0 : 0xE0) | type, 1, 0], node, number)
      }
    case .pingFlood:
      hostileSend(
        Array(repeatElement(FrameEncoder.encode(.ping(VariableInteger.max)), count: 1_000).joined()), node, number)
    case .offerFlood: for next in 0..<100 { offer(UInt64(session.rounds * 100 + next), size: 10, node, number) }
    case .sameNumber: for _ in 0..<2 { offer(1, size: 10, node, number) }
    case .hugeOffer: offer(3, size: VariableInteger.max, node, number)
    case .creditOverflow:
      say(.messageCredit(limit: VariableInteger.max), .messageCredit(limit: 0))
      for (transfer, size) in session.offers {
        say(.acceptOffer(transfer: transfer, offset: size + 1, limit: VariableInteger.max))
      }
    case .foreignAssociation:
      say(.associated(received: VariableInteger.max, begun: VariableInteger.max))
      for (transfer, size) in session.offers {
        say(
          .acceptOffer(transfer: transfer, offset: 0, limit: VariableInteger.max), .stored(transfer: transfer, name: [])
        )
        say(.transferCredit(transfer: transfer, stored: size, limit: size))
      }
    case .associateTwice: say(.associate(AssociationID(high: 1, low: 2), received: node.dice.word() >> 2))
    case .inviteTwice: say(invite(node, timeout: VariableInteger.max), invite(node, timeout: 0))
    case .leaveAndTalk: say(.leave(.left, detail: "bye"), .message(payload), invite(node, timeout: 1))
    case .acknowledgeTooMuch: say(.acknowledge(received: VariableInteger.max))
    case .streamFlood:
      for next in 0..<100 {
        say(.openStream(stream: UInt64(session.rounds * 100 + next), name: String(repeating: "s", count: 900)))
      }
    case .streamsBeyondCredit:
      say(.openStream(stream: UInt64(session.rounds), name: ""))
      for _ in 0..<90 { say(.streamData(stream: UInt64(session.rounds), node.dice.bytes(1_000)[...])) }
    case .streamsOutOfOrder, .foreignStreams, .streamCreditOverflow, .streamChurn:
      for frame in streamFrames(session, node) { say(frame) }
    case .invitationChurn, .offerChurn, .removalFlood, .codeInvitationChurn:
      hostileSend(churn(session, node), node, number)
    case .groupLies: for _ in 0..<3 { say(.groupView(falseView(node))) }
    case .introductionChurn, .tunnelChurn, .askFlood, .pauseFlood, .groupViewFlood:
      // Usually as a member: a node that is not a member is left at once.
      if session.isMember || node.dice.chance(5) {
        hostileSend(churn(session, node), node, number)
      } else {
        say(.ping(1))
      }
    case .deafPings:
      let pings = repeatElement(FrameEncoder.encode(.ping(VariableInteger.max)), count: 3_000)
      hostileSend(Array(pings.joined()), node, number)
      hearNothing(node, number)
    case .deafResume:
      hostileSend(churn(session, node), node, number)
      if session.rounds == 5 { comeBack(node, number) }
      if session.isResuming { hearNothing(node, number) }
    case .callFrames: if session.isMember { callAttack(node, number) } else { say(.ping(1)) }
    case .oversizedOffers: oversizedOffer(node, number)
    case .halfFiles: halfFile(node, number)
    case .unknownRequired: hostileSend([node.dice.pick([0x0F, 0x1F, 0x5F]), 1, 0], node, number)
    case .reservedRange: hostileSend([UInt8(node.dice.number(0x21...0x37)), 2, 0, 0], node, number)
    }
    return true
  }

  /// Returns an end with the digest of no content.
  private func end(_ transfer: UInt64, size: UInt64, _ node: HostileNode) -> Frame {
    guard let digest = ResourceDigest(sha256: node.dice.bytes(ResourceDigest.byteCount)) else { return .ping(0) }
    return .end(transfer: transfer, size: size, digest)
  }

  private func offer(_ transfer: UInt64, size: UInt64, _ node: HostileNode, _ number: Int) {
    let offer = ResourceOffer(name: node.dice.bytes(node.dice.number(0...300)), size: size)
    send(.offer(transfer: transfer, offer), node, number)
  }

  /// Returns a node of this world, or one that does not exist.
  func someMember(_ node: HostileNode) -> NodeID {
    let somebody = node.dice.pick(nodes).node
    return NodeID(
      peer: somebody.peer,
      incarnation: node.dice.chance(80) ? somebody.incarnation : Incarnation(rawValue: node.dice.word()))
  }

  /// Returns an introduction of the given member or of an invented incarnation of node 0, at the addresses of any node.
  func introduction(_ member: NodeID, _ node: HostileNode) -> Introduce {
    var member = member
    if node.dice.chance(40) {
      member = NodeID(peer: nodes[0].peer, incarnation: Incarnation(rawValue: node.dice.word()))
    }
    let addresses = (0..<node.dice.number(0...WireLimits.introducedAddresses)).map { _ in
      HostAddress(transport: 1, host: [10, 0, 0, UInt8(node.dice.number(1...9))], port: 7)
    }
    return Introduce(
      member, timeout: node.dice.pick([0, 500, 5_000, VariableInteger.max]), name: "a friend", addresses: addresses)
  }

  /// Returns a view with invented members, as many as allowed or more, and any ranks and capacities.
  func falseView(_ node: HostileNode) -> GroupView {
    let rank = node.dice.pick([0, 1, 2, 1_000, VariableInteger.max])
    let count = node.dice.pick([0, 1, 10, WireLimits.groupMembers, 10_000])
    let invented = (0..<count).map { _ in Incarnation(rawValue: node.dice.word()) }
    let real = nodes.filter { _ in node.dice.chance(50) }.map(\.node.incarnation)
    return GroupView(
      capacity: node.dice.pick([0, 2, 3, 5, 8, VariableInteger.max]), smallest: node.dice.pick([0, 2, 5, 8]),
      rank: rank, highest: max(rank, node.dice.pick([0, 7, VariableInteger.max])),
      members: Set(invented + real).sorted { $0.rawValue < $1.rawValue })
  }

  /// Returns any frame with any numbers.
  func monkeyFrame(_ node: HostileNode) -> Frame {
    let small = UInt64(node.dice.number(0...4))
    let large = node.dice.pick([0, 1, 100, 10_000, VariableInteger.max])
    let bytes = node.dice.bytes(node.dice.number(1...200))[...]
    let reason = Reason(rawValue: UInt16(node.dice.number(0...70)))
    switch node.dice.number(0...63) {
    case 0: return .codeReveal(node.dice.bytes(32))
    case 40: return .codeConfirm(node.dice.bytes(InviteByCode.confirmationCount))
    case 41: return .codeNonce(node.dice.bytes(32))
    case 42: return .admit
    case 43:
      return .codeAnswer(
        CodeAnswer(
          share: node.dice.bytes(InviteByCode.shareCount),
          confirmation: node.dice.bytes(InviteByCode.confirmationCount), left: large))
    case 44:
      return .inviteByCode(
        InviteByCode(timeout: large, share: node.dice.bytes(InviteByCode.shareCount), context: bytes))
    case 1: return .associate(AssociationID(high: large, low: small), received: small)
    case 2: return .associated(received: large, begun: small)
    case 3: return .close(reason, detail: "bye")
    case 4: return .ping(large)
    case 5: return .pong(large)
    case 6: return .acknowledge(received: small)
    case 7: return .messageCredit(limit: large)
    case 8: return .unreliableMessage(number: large, bytes)
    case 9: return .chunk(transfer: small, bytes)
    case 10: return .position(transfer: small, offset: large)
    case 11: return .transferCredit(transfer: small, stored: min(small, large), limit: large)
    case 12: return end(small, size: large, node)
    case 13, 14: return .message(bytes)
    case 15: return .fragment(bytes)
    case 16: return invite(node, timeout: large)
    case 17: return .accept
    case 18: return .decline(reason, detail: "")
    case 19: return .withdraw(reason)
    case 20: return .leave(reason, detail: "")
    case 21: return .offer(transfer: small, ResourceOffer(name: Array(bytes), size: large))
    case 22: return .acceptOffer(transfer: small, offset: 0, limit: large)
    case 23: return .stored(transfer: small, name: [])
    case 24: return .abandon(transfer: small, reason, detail: "")
    case 25, 26: return .removeMember(subject: someMember(node), reason)
    case 27: return .removed(by: someMember(node))
    case 28: return .senderPaused(transfer: small, node.dice.chance(50))
    case 29: return .receiverPaused(transfer: small, node.dice.chance(50))
    case 30: return .openStream(stream: small, name: "monkey")
    case 31: return .streamData(stream: small, bytes)
    case 32: return .endStream(stream: small)
    case 33: return .resetStream(stream: small, reason, detail: "")
    case 34: return .stopStream(stream: small, reason, detail: "")
    case 35: return .streamDone(stream: small)
    case 36: return .streamCredit(stream: small, limit: large)
    case 37: return .present(transfer: small, name: [])
    case 38: return .restart(transfer: small, offset: min(small, large), limit: large)
    case 46: return .channelMessage(Self.channel(node.dice.number(1...63)), bytes)
    case 47: return .channelFragment(Self.channel(node.dice.number(1...63)), bytes)
    case 49:
      return .listening([
        ListeningPort(transport: 1, port: 7), ListeningPort(transport: 3, port: UInt16(1 + small % 30)),
      ])
    case 50, 51: return .introduce(introduction(someMember(node), node))
    case 55: return .askToIntroduce(someMember(node))
    case 52: return .introduced(someMember(node))
    case 53: return .introductionFailed(someMember(node), reason, detail: "")
    case 54: return .withdrawIntroduction(someMember(node), reason)
    case 56: return .openTunnel(tunnel: small, to: someMember(node))
    case 57: return .offerTunnel(tunnel: small, from: someMember(node), relays: 1 + small % 3)
    case 58: return .tunnelOpened(tunnel: small, relays: 1 + small % 3)
    // The replacement for TLS begins with the sender's number: no node can pretend to be another.
    case 59, 60: return .tunnelData(tunnel: small, [UInt8(node.index)] + bytes)
    case 61: return .tunnelCredit(tunnel: small, consumed: min(small, large), limit: large)
    case 63: return .groupView(falseView(node))
    case 62: return .closeTunnel(tunnel: small, reason, detail: "")
    case 48: return .channelCredit(Self.channel(node.dice.number(1...63)), limit: large)
    case 39: return .comparing(transfer: small, compared: large)
    case 45: return node.dice.chance(30) ? .refuse(transfer: small, reason, detail: "") : comparison(node, reason)
    default: return .refuse(transfer: small, reason, detail: "")
    }
  }

  private func comparison(_ node: HostileNode, _ reason: Reason) -> Frame {
    switch node.dice.number(0...5) {
    case 0, 1:
      .comparison(.ask(timeout: node.dice.pick([0, 500, VariableInteger.max]), commitment: node.dice.bytes(32)))
    case 2: .comparison(.nonce(node.dice.bytes(32)))
    case 3: .comparison(.reveal(node.dice.bytes(32)))
    case 4: .comparison(.same)
    default: .comparison(.end(reason, detail: ""))
    }
  }
}
