import PiconetWire

/// Goodbyes: what was sent before them still goes, nothing new begins, and the remote side closes the link when it has
/// them.
extension SessionEngine {
  mutating func leave(
    _ id: CommandID?, _ remote: NodeID, _ reason: Reason, by: NodeID? = nil, _ turn: Turn
  ) {
    guard let association = associations[remote], association.leaving == nil else {
      if let id { turn.reply(id, .done) }
      return
    }
    if association.suspension != nil {
      // There is nobody to tell. The remote side learns it when it finds us, or by time.
      end(association, Ending(reason, .us, by: by), turn)
      if let id { turn.reply(id, .done) }
      return
    }
    association.beginLeaving(Ending(reason, .us, by: by), command: id, turn)
    association.negotiate(.leaving(reason), turn)
  }

  mutating func receivedLeave(
    _ reason: Reason, _ detail: String, from association: Association, on link: Link, _ turn: Turn
  ) {
    turn.add(.closeLink(link.id, flush: true))
    forget(link, association.endingByLeave(reason, detail), turn)
  }
}
