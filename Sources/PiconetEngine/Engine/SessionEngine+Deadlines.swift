import PiconetWire

/// What is due when, and what happens then.
extension SessionEngine {
  /// The earliest of all owners' deadlines.
  var earliestDeadline: Instant? {
    let surroundings = surroundings
    var deadlines: [Instant?] = [turn.budgets.nextDeadline, attempts.nextDeadline]
    deadlines += links.values.map(\.nextDeadline)
    deadlines += associations.values.map { $0.nextDeadline(surroundings) }
    return deadlines.lazy.compactMap { $0 }.min()
  }

  mutating func deadlineReached(_ turn: Turn) {
    // Traffic may have put off what was announced.
    watch.changed()
    turn.budgets.deadlineReached(at: turn.now)
    invitationDeadlines(turn)
    for link in links.inOrder { link.pingDeadlineReached(turn) }
    linkDeadlines(turn)
    let surroundings = surroundings
    let due = associations.inOrder.filter { association in
      association.nextDeadline(surroundings).map { $0 <= turn.now } ?? false
    }
    for association in due where !association.isOver {
      if let ending = association.deadlineReached(self.surroundings, turn) {
        end(association, ending, turn)
      }
    }
  }

  /// Of hundreds of links few have anything due. Those that will want a ping soon get it now: one wake-up for all of
  /// them.
  private mutating func linkDeadlines(_ turn: Turn) {
    let soon = turn.now + min(configuration.silence(isDurable: true) / 32, .milliseconds(250))
    for link in links.due(at: turn.now, soon: soon) where !link.isForgotten { linkDeadline(link, soon, turn) }
  }

  private mutating func linkDeadline(_ link: Link, _ soon: Instant, _ turn: Turn) {
    switch link.due(at: turn.now, soon: soon) {
    case .handshake:
      end(link, Ending(.timedOut, .peer, "the handshake was not completed in time"), isOnlyLink: true, turn)
    case .probe: probeEnded(link, turn)
    case .silence(let duration):
      let seconds = duration.wholeNanoseconds / 1_000_000_000
      end(link, Ending(.timedOut, .link, "nothing was heard for \(seconds) s"), isOnlyLink: true, turn)
    case .ping:
      link.ping(turn.now)
      turn.flush(link)
    case nil: break
    }
  }
}
