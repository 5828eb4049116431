import PiconetWire

/// Leaving a peer: what was sent before the goodbye still goes, nothing new begins, and the remote side closes the link
/// when it has the goodbye.
extension SessionEngine {
  mutating func leave(_ id: CommandID?, _ remote: NodeID, _ reason: Reason, by: NodeID? = nil, _ turn: Turn) {
    if let association = associations[remote], association.leaving == nil {
      let ending = Ending(reason, .us, by: by)
      if association.leave(ending, command: id, turn) { return }
      end(association, ending, turn)
    }
    if let id { turn.reply(id, .done) }
  }

  mutating func receivedLeave(
    _ reason: Reason, _ detail: String, from association: Association, on link: Link, _ turn: Turn
  ) {
    turn.add(.closeLink(link.id, flush: true))
    forget(link, association.endingByLeave(reason, detail), turn)
  }
}
