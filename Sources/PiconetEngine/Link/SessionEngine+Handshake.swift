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
    makeRoomForHandshake(turn)
    links.append(link)
    guard opening.isAdmitted else {
      let told = "this device is not trusted there"
      return end(link, Ending(.identity, .peer, "a stranger, to whom nothing is said"), told: told, turn)
    }
    if link.isDialler { sendHello(on: link, turn) }
  }

  private func sendHello(on link: Link, _ turn: Turn) {
    // The link looks for one node of a key while we have an association with another one: if that answers, our count
    // must not tell it that we have lost the association.
    let looksPast = link.searchedFor.map { associations.hasOther(than: $0) } ?? false
    let begun = looksPast ? 0 : begun[link.opening.peer]
    link.sendHello(as: node, begun: begun, holding: associations.held(for: link), configuration, turn)
  }

  /// Links that have said hello keep the name with which they did.
  mutating func setName(_ id: CommandID, _ name: String, _ turn: Turn) {
    do throws(InvalidConfiguration) {
      try EngineConfiguration.check(name: name)
      configuration.name = name
      turn.reply(id, .done)
    } catch {
      turn.reply(id, .failed(Ending(.limitExceeded, .us, error.rule)))
    }
  }

  mutating func receivedHello(_ hello: Hello, on link: Link, _ turn: Turn) {
    if let refusal = link.received(hello, at: node, configuration.scope) {
      return refuse(link, refusal.reason, refusal.words, turn)
    }
    guard let remote = link.node else { return }
    // Our own hello, which holds nothing any more, would tell that we have lost the association.
    if !link.isDialler, let reason = farewells.reason(for: remote, holding: hello.held?.id, at: turn.now) {
      return refuse(link, reason, "", turn)
    }
    guard admits(remote, on: link) else {
      // Who holds an association has come for that one, and must learn that it is over.
      return refuse(link, hello.held.map { reasonGone(remote, $0.id, turn.now) } ?? .notAvailable, "", turn)
    }
    if let wanted = link.searchedFor, wanted != remote {
      search(.otherAnswered(over: link.opening.traits.kind), for: wanted, turn)
      return refuse(link, .duplicateLink, "the node that was looked for is not here", turn)
    }
    if !link.isDialler { sendHello(on: link, turn) }
    link.awaitTrust()
    turn.add(.judgeTrust(link.id, remote, name: hello.name, isDialled: link.isDialler))
  }

  /// Whether the node may come in by this link: anybody while we are open; otherwise whom we have dialled or invite,
  /// and who has an association with us.
  private func admits(_ remote: NodeID, on link: Link) -> Bool {
    associations[remote] != nil || admitsStranger(remote, on: link)
  }

  /// The same for a node that has no association with us.
  func admitsStranger(_ remote: NodeID, on link: Link) -> Bool {
    isOpen || link.isDialler || invites(remote)
  }

  mutating func judged(_ link: Link, _ judgement: TrustJudgement, _ turn: Turn) {
    guard link.phase == .awaitingTrust else { return }
    if case .refused(let reason, let detail, let told) = judgement {
      return refused(link, Ending(reason, .peer, detail), told: told, turn)
    }
    link.judged(judgement)
    if let remote = link.node, let hello = link.hello { answered(by: remote, hello, on: link, turn) }
    ready(link, turn)
    decode(link, turn)
  }

  private mutating func refused(_ link: Link, _ ending: Ending, told: String?, _ turn: Turn) {
    end(link, ending, told: told, turn)
    guard let remote = link.node else { return }
    // Of a peer that we have dialled the attempt's own end tells.
    if !link.isDialler, let suppressed = refusals.take(at: turn.now) {
      let name = link.hello?.name ?? ""
      turn.deliver(.peerRefused(remote, name: name, link.opening.traits, ending, suppressed: suppressed))
    }
    // Whoever is not let in any more has no association either.
    if let association = associations[remote] { end(association, ending, told: told, turn) }
  }
}
