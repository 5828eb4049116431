import PiconetWire

/// Shutting down: tells the members within the leave timeout, and ends everything.
extension SessionEngine {
  mutating func shutDown(_ command: CommandID, _ turn: Turn) {
    let ending = Ending(.shuttingDown, .us)
    shutdown = Shutdown(command: command)
    admission.shutDown()
    endAllIntroductions(ending, turn)
    for command in (attempts.commands + associations.inviting).sorted() { withdraw(command, ending, turn) }
    for association in associations.inOrder {
      if association.activeLink == nil { end(association, ending, turn) } else { association.endSearch(turn) }
    }
    for link in links.inOrder where link.phase != .active { end(link, ending, turn) }
    for association in associations.inOrder where association.leaving == nil {
      // Unlike `leave`, this does not call `negotiate`: our invitations were withdrawn above, and a member's invitation
      // is answered already.
      if association.isMember { association.beginLeaving(ending, turn) } else { end(association, ending, turn) }
    }
  }
}
