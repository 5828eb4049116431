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
    association.dropInvitations(reason, turn)
  }

  mutating func receivedLeave(
    _ reason: Reason, _ detail: String, from association: Association, on link: Link, _ turn: Turn
  ) {
    // Of a leave and a removal that cross, the removal counts on both sides.
    let leaving = association.leaving
    let isOurs = leaving?.isTold == true && (reason != .removed || leaving?.reason == .removed)
    turn.add(.closeLink(link.id, flush: true))
    let by = reason == .removed ? association.removedBy ?? association.node : nil
    forget(link, Ending(reason, isOurs ? .nobody : .peer, detail, by: by), turn)
  }
}
