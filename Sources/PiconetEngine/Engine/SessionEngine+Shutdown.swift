import PiconetWire

/// Shutting down: members are told, within the leave timeout, and everything ends.
extension SessionEngine {
  struct Shutdown: Sendable {
    var command: CommandID
    var isFinished = false
  }

  mutating func shutDown(_ command: CommandID, _ turn: Turn) {
    shutdown = Shutdown(command: command)
    admission.expectNobody()
    endAllIntroductions(Ending(.shuttingDown, .us), turn)
    places.removeAll()
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

  mutating func finishShutdown(_ turn: Turn) {
    guard var shutdown, !shutdown.isFinished, links.isEmpty, associations.isEmpty else { return }
    shutdown.isFinished = true
    self.shutdown = shutdown
    turn.reply(shutdown.command, .done)
    turn.add(.finished)
  }
}
