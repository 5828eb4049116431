import PiconetWire

/// Deadlines of all owners, and what happens when they come.
extension SessionEngine {
  /// The earliest deadline of all owners, on the driver's clock.
  var earliestDeadline: Instant? {
    let surroundings = surroundings
    var deadlines: [Instant?] = [turn.budgets.nextDeadline, attempts.nextDeadline, admission.nextDeadline]
    deadlines += [turn.introduced.entries.nextDeadline, introducer.nextDeadline, relayed.nextDeadline]
    deadlines.append(removals.nextDeadline)
    deadlines += links.values.map(\.nextDeadline)
    deadlines += associations.values.map { $0.nextDeadline(surroundings) }
    return deadlines.lazy.compactMap { $0 }.min().map(time.clock(at:))
  }

  /// Restarts the time in which each remote side may be heard or found again, because the process has not run for a
  /// while and could not listen. Remote sides with a link are asked for a sign of life at once.
  func awoke(_ turn: Turn) {
    watch.changed()
    for link in links.inOrder { link.awoke(turn) }
    for association in associations.inOrder { association.awoke(turn.now) }
  }

  mutating func deadlineReached(_ turn: Turn) {
    // Traffic may have delayed the deadline that was announced.
    watch.changed()
    turn.budgets.deadlineReached(at: turn.now)
    admission.deadlineReached(at: turn.now)
    relayed.giveCredit(associations, turn)
    for command in attempts.commands {
      if let (link, ending) = attempts.timePassed(command, surroundings, turn) { end(link, ending, turn) }
    }
    for association in associations.invitationsDue(at: turn.now) { negotiate(.timedOut, association, turn) }
    introductionDeadlines(turn)
    for remote in admission.takeParting(associations, turn) { leave(nil, remote, .full, turn) }
    for remote in removals.takeRest(associations, turn) { leave(nil, remote, .left, turn) }
    for link in links.inOrder { link.pingDeadlineReached(turn) }
    linkDeadlines(turn)
    for association in associations.due(at: turn.now, surroundings) where !association.isOver {
      if let ending = association.deadlineReached(surroundings, turn) { end(association, ending, turn) }
    }
  }

  /// Handles the deadlines of links. Of hundreds of links only a few have anything due. Links that will soon need a
  /// ping get it now, so that one wake-up serves all of them.
  private mutating func linkDeadlines(_ turn: Turn) {
    let soon = turn.now + min(configuration.silence(isDurable: true) / 32, .milliseconds(250))
    for link in links.due(at: turn.now, soon: soon) where !link.isForgotten {
      switch link.deadlineReached(soon: soon, turn) {
      case .over(let ending): end(link, ending, isOnlyLink: true, turn)
      case .silentProbe: use(link, associations.use(ofWaiting: link, turn), turn)
      case nil: break
      }
    }
  }
}
