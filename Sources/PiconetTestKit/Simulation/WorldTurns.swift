import PiconetEngine
import PiconetWire

/// The loop of each node: takes the facts in the mailbox, passes them to the engine, performs effects, arms the timer.
extension World {
  func post(_ mail: Mail, to node: SimulatedNode) {
    node.mailbox.append(mail)
    enterTurn(node)
  }

  private func enterTurn(_ node: SimulatedNode) {
    guard !node.isTurnEntered else { return }
    node.isTurnEntered = true
    let wake = networkDice.word() % max(1, scenario.wakeDelay)
    agenda.enter(.turn(node: node.index, life: node.life), at: max(now + wake, node.pausedUntil))
  }

  func timerFired(_ node: SimulatedNode) {
    node.timerAt = nil
    guard node.pausedUntil <= now else { return arm(node, notBefore: node.pausedUntil) }
    if let deadline = node.engine.nextDeadline, deadline <= instant {
      post(.fact(.deadlineReached), to: node)
    } else {
      arm(node, notBefore: now)
    }
  }

  /// How late a timer may fire, in nanoseconds.
  static let timerSlack: UInt64 = 50_000

  /// Arms the timer. A timer may fire late, never early.
  private func arm(_ node: SimulatedNode, notBefore: UInt64) {
    guard let deadline = node.engine.nextDeadline else { return }
    let at = max(deadline.nanoseconds, notBefore, now)
    if let armed = node.timerAt, armed <= at { return }
    node.timerAt = at
    agenda.enter(.timer(node: node.index, life: node.life), at: at + networkDice.word() % Self.timerSlack)
  }

  func takeTurn(_ node: SimulatedNode) {
    node.isTurnEntered = false
    if node.pausedUntil > now { return enterTurn(node) }
    let mailbox = node.mailbox
    node.mailbox = []
    var effects: [Effect] = []
    for mail in mailbox {
      guard let fact = fact(of: mail, for: node) else { continue }
      note(.fact(node.index, fact))
      let bearable = bearableEffects(of: fact, node)
      willHandle(fact, node)
      let start = effects.count
      node.engine.handle(fact, at: instant, into: &effects)
      observe(effects[start...], node)
      checkStorm(effects.count - start, bearable)
      if findings.first != nil { return }
      if !scenario.performsLate {
        perform(effects, of: node)
        effects.removeAll(keepingCapacity: true)
      }
    }
    let start = effects.count
    node.engine.flush(at: instant, into: &effects)
    observe(effects[start...], node)
    checkCensus(node)
    followListening(node)
    perform(effects, of: node)
    checkSpin(node)
    arm(node, notBefore: 0)
  }

  /// Returns the fact for the engine; nil if the mail is about something that is over.
  private func fact(of mail: Mail, for node: SimulatedNode) -> Fact? {
    switch mail {
    case .message(let peer, let size, let mode, let channel):
      return .messageQueued(
        peer, makeMessage(from: node, to: peer, size: size, mode, in: channel), mode, in: channel)
    case .callMessage(let peer, let association, let bytes, let channel):
      // A program's member belongs to one membership.
      guard node.record.members[peer] == association else { return nil }
      return .messageQueued(peer, bytes[...], .reliable, in: channel)
    case .fact(let fact):
      switch fact {
      case .received(let link, _), .transmitted(let link, _), .trustJudged(let link, _):
        guard node.has(link) else { return nil }
      case .linkClosed(let link, _):
        guard node.links.removeValue(forKey: link) != nil || node.tunnelLinks.removeValue(forKey: link) != nil else {
          return nil
        }
      case .linkOpened(let link, let opening):
        guard node.has(link) else { return nil }
        if let dial = opening.dial { node.dials[dial] = nil }
      case .dialFailed(let dial, _, _):
        // A dial over a relay is not in the network's tables.
        guard node.dials.removeValue(forKey: dial) != nil || node.record.dials.contains(dial) else { return nil }
      case .deadlineReached:
        guard let deadline = node.engine.nextDeadline, deadline <= instant else { return nil }
      case .commanded(let id, .pauseTransfer(let transfer, let isPaused)):
        return .commanded(id, pause(transfer, isPaused, node))
      case .commanded, .messageQueued, .messagesConsumed, .streamWritten, .streamConsumed, .tunnelWanted,
        .tunnelWritten, .tunnelConsumed, .tunnelClosed, .discoveryReported, .discoveryEnded, .linkPaced, .nonceDrawn,
        .codeDerived, .codeProven, .chunksRead, .sourceFinished, .sourceFailed, .chunkStored, .committed,
        .storeRestarted, .storeFailed, .availabilityChanged, .listeningChanged, .forgiven:
        break
      }
      return fact
    }
  }
}
