import PiconetWire

/// A link from its opening until both sides know each other.
extension SessionEngine {
  mutating func opened(_ id: LinkID, _ opening: LinkOpening, _ turn: Turn) {
    if shutdown != nil { return turn.add(.closeLink(id, flush: false)) }
    let link = Link(id: id, opening: opening, at: turn.now, configuration, watch)
    if let dial = opening.dial, !claim(link, from: dial, turn) { return }
    if let (oldest, ending) = admission.handshakeGivingWay(links) { end(oldest, ending, turn) }
    links.append(link)
    guard opening.isAdmitted else {
      let told = "this device is not trusted there"
      return end(link, Ending(.identity, .peer, "a stranger, to whom nothing is said"), told: told, turn)
    }
    if link.isDialler { link.sendHello(as: node, associations, configuration, turn) }
  }

  mutating func receivedHello(_ hello: Hello, on link: Link, _ turn: Turn) {
    if let refusal = link.received(hello, at: node, configuration.sessionID) {
      return refuse(link, refusal.reason, refusal.words, turn)
    }
    judge(link, turn)
  }

  /// Admits the node, turns it away, or keeps its link until that can be decided. Then the driver is asked whether an
  /// admitted node is trusted.
  private mutating func judge(_ link: Link, _ turn: Turn) {
    guard let remote = link.node, let hello = link.hello else { return }
    switch admission.verdict(on: remote, hello, over: link, attempts, surroundings, turn) {
    case .undecided: admission.wait(link)
    case .admitted:
      if !link.isDialler { link.sendHello(as: node, associations, configuration, turn) }
      link.awaitTrust()
      turn.add(.judgeTrust(link.id, remote, name: hello.name, isDialled: link.isDialler))
    case .elsewhere(let wanted):
      search(.otherAnswered(over: link.opening.traits.kind), for: wanted, turn)
      refuse(link, .duplicateLink, "the node that was looked for is not here", turn)
    case .turnedAway(let reason, let unused):
      if let unused { end(unused, Ending(.notAvailable, .us), told: "", turn) }
      refuse(link, reason, "", turn)
    }
  }

  /// Judges the waiting links. Admits the peers that our own dials have reached, and turns the others away once no dial
  /// is left that might reach them.
  mutating func judgeUndecided(_ turn: Turn) {
    for link in admission.takeUndecided() where !link.isForgotten { judge(link, turn) }
  }

  mutating func judged(_ link: Link, _ judgement: TrustJudgement, _ turn: Turn) {
    guard link.phase == .awaitingTrust else { return }
    if case .refused(let reason, let detail, let told) = judgement {
      let ending = Ending(reason, .peer, detail)
      end(link, ending, told: told, turn)
      // For a peer that we dialled, the end of the attempt reports the refusal.
      if !link.isDialler { admission.reportRefusal(on: link, ending, turn) }
      // A peer that is no longer trusted keeps no association.
      if let remote = link.node, let association = associations[remote] { end(association, ending, told: told, turn) }
      return
    }
    link.judged(judgement)
    attempts.proved(link)
    goOn(attempts.answered(link, surroundings, turn), turn)
    use(link, associations.use(ofReady: link, turn), turn)
    decode(link, turn)
  }
}
