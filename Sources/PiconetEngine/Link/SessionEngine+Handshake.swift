import PiconetWire

/// A link from its opening to the moment when both sides know each other.
extension SessionEngine {
  mutating func opened(_ id: LinkID, _ opening: LinkOpening, _ turn: Turn) {
    guard shutdown == nil else {
      turn.add(.closeLink(id, flush: false))
      return
    }
    let link = Link(id: id, opening: opening, at: turn.now, configuration, watch)
    if let dial = opening.dial, !claim(link, from: dial, turn) { return }
    if let (oldest, ending) = admission.handshakeGivingWay(links) { end(oldest, ending, turn) }
    links.append(link)
    guard opening.isAdmitted else {
      let told = "this device is not trusted there"
      return end(link, Ending(.identity, .peer, "a stranger, to whom nothing is said"), told: told, turn)
    }
    if link.isDialler { sendHello(on: link, turn) }
  }

  private mutating func sendHello(on link: Link, _ turn: Turn) {
    let begun = associations.begunCount(statedOn: link)
    link.sendHello(as: node, begun: begun, holding: associations.held(for: link), configuration, turn)
  }

  mutating func receivedHello(_ hello: Hello, on link: Link, _ turn: Turn) {
    if let refusal = link.received(hello, at: node, configuration.sessionID) {
      return refuse(link, refusal.reason, refusal.words, turn)
    }
    guard let remote = link.node else { return }
    // Our own hello, which no longer holds anything, would say that we have lost the association.
    if !link.isDialler, let reason = associations.farewell(to: remote, holding: hello.held?.id, at: turn.now) {
      return refuse(link, reason, "", turn)
    }
    judge(remote, hello, on: link, turn)
  }

  /// The node may connect: whether its key is trusted is judged next.
  mutating func admitted(_ remote: NodeID, _ hello: Hello, on link: Link, _ turn: Turn) {
    if let wanted = link.searchedFor, wanted != remote {
      search(.otherAnswered(over: link.opening.traits.kind), for: wanted, turn)
      return refuse(link, .duplicateLink, "the node that was looked for is not here", turn)
    }
    if !link.isDialler { sendHello(on: link, turn) }
    link.awaitTrust()
    turn.add(.judgeTrust(link.id, remote, name: hello.name, isDialled: link.isDialler))
  }

  /// The node may not connect: refuses its link.
  mutating func turnAway(_ remote: NodeID, _ hello: Hello, on link: Link, _ turn: Turn) {
    if let unused = associations[remote] {
      end(unused, Ending(.notAvailable, .us), told: "", turn)
      return refuse(link, .notAvailable, "", turn)
    }
    // A peer that holds an association wants to resume it, and must learn that it is over.
    let gone = hello.held.map { associations.reasonGone(remote, holding: $0.id, at: turn.now) }
    refuse(link, gone ?? .notAvailable, "", turn)
  }

  mutating func judged(_ link: Link, _ judgement: TrustJudgement, _ turn: Turn) {
    guard link.phase == .awaitingTrust else { return }
    if case .refused(let reason, let detail, let told) = judgement {
      return refused(link, Ending(reason, .peer, detail), told: told, turn)
    }
    link.judged(judgement)
    goOn(attempts.answered(link, ways, turn), turn)
    ready(link, turn)
    decode(link, turn)
  }

  private mutating func refused(_ link: Link, _ ending: Ending, told: String?, _ turn: Turn) {
    end(link, ending, told: told, turn)
    // For a peer that we dialled, the end of the attempt reports it.
    if !link.isDialler { admission.reportRefusal(on: link, ending, turn) }
    // A peer that is no longer trusted keeps no association.
    if let remote = link.node, let association = associations[remote] { end(association, ending, told: told, turn) }
  }
}
