import PiconetWire

/// Carries out the steps for nodes that members introduce to us, or want to have removed.
extension SessionEngine {
  mutating func follow(_ step: IntroductionStep?, _ turn: Turn) {
    switch step {
    case .tryNow(let node): follow(turn.introduced.tried(node, attempts, surroundings, turn), turn)
    case .invite(let command, let destination, let time):
      goOn(attempts.begin(Caller(command), destination, [], time, nil, surroundings, turn), turn)
    case .ended(let entry, let ending):
      if case .inviting(let command) = entry.phase { withdraw(command, ending, turn) }
      // The node's own invitation may have waited for this.
      if let association = associations[entry.node] { negotiate(.introductionEnded, association, turn) }
      turn.deliver(.introductionEnded(entry.node, ending))
    case .leave(let node, let command, let member): leave(command, node, .removed, by: member, turn)
    case nil: break
    }
  }

  /// Handles answers to the engine's own commands, and nodes that have become members.
  mutating func settleIntroductions(_ turn: Turn) {
    while let (command, reply) = turn.takeOwnReply() {
      if let (pair, cause) = introducer.ended(command, reply, turn) {
        admission.introduced(pair, apartBy: cause, turn)
      }
      follow(turn.introduced.ended(command, reply, surroundings, turn), turn)
    }
    while let node = turn.takeJoined() {
      turn.introduced.joined(node, surroundings, turn)
      admission.joined(node, associations, turn)
      introducer.joined(node, surroundings, turn)
    }
  }

  mutating func introductionDeadlines(_ turn: Turn) {
    introducer.deadlineReached(associations, turn)
    for entry in turn.introduced.entries.expired(at: turn.now) {
      follow(turn.introduced.expired(entry, associations, turn), turn)
    }
    for node in turn.introduced.entries.due(at: turn.now) {
      follow(.tryNow(node), turn)
    }
    introducer.bringTogether(surroundings, turn)
  }

  /// Ends the introductions of an association that is over. Its node neither owes nor awaits an answer about
  /// introductions any more.
  mutating func endIntroductions(with association: Association, _ ending: Ending, _ turn: Turn) {
    let member = association.node
    let told = Ending(ending.reason, ending.blame, "the connection to one of them is over: \(ending)", by: member)
    introducer.left(association, ending, told: told, associations, turn)
    for node in turn.introduced.introducerLeft(member) {
      follow(turn.introduced.end(node, told, told: told, associations, turn), turn)
    }
  }

  /// Ends all introductions. No new ones begin.
  mutating func endAllIntroductions(_ ending: Ending, _ turn: Turn) {
    introducer.endAll(ending, associations, turn)
    for node in turn.introduced.endAll() {
      follow(turn.introduced.end(node, ending, told: ending, associations, turn), turn)
    }
  }
}
