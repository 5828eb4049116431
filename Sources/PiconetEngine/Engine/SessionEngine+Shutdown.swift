import PiconetWire

/// Shutting down: members are told, within the leave timeout, and everything ends.
extension SessionEngine {
  mutating func shutDown(_ command: CommandID, _ turn: Turn) {
    shutdown = Shutdown(command: command)
    admission.shutDown()
    endAllIntroductions(Ending(.shuttingDown, .us), turn)
    for command in (attempts.commands + associations.inviting).sorted() {
      withdraw(command, Ending(.shuttingDown, .us), turn)
    }
    for association in associations.inOrder {
      if association.suspension != nil || association.link?.phase == .resuming {
        end(association, Ending(.shuttingDown, .us), turn)
      } else {
        association.endSearch(turn)
      }
    }
    for link in links.inOrder where link.phase != .active {
      end(link, Ending(.shuttingDown, .us), turn)
    }
    for association in associations.inOrder where association.leaving == nil {
      guard association.isMember else {
        end(association, Ending(.shuttingDown, .us), turn)
        continue
      }
      // Without `negotiate`, unlike `leave`: our invitations were withdrawn above, and that of a member is answered.
      association.beginLeaving(Ending(.shuttingDown, .us), turn)
    }
  }
}
