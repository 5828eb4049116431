import PiconetWire

/// Dials and links of attempts and searches, and what discovery reports to them.
extension SessionEngine {
  mutating func dialFailed(_ dial: DialID, _ failure: LinkFailure, at address: String?, _ turn: Turn) {
    guard let dial = turn.takeDial(dial) else { return }
    switch dial.purpose {
    case .invitation(let command):
      goOn(attempts.dialFailed(command, dial, failure, at: address, surroundings, turn), turn)
    case .search(let remote): search(.dialFailed(dial, failure, at: address), for: remote, turn)
    }
  }

  /// Takes over a link that a dial has opened.
  /// - Returns: false if nothing waits for the link any more, or if it leads to another peer. It is then closed.
  mutating func claim(_ link: Link, from dial: DialID, _ turn: Turn) -> Bool {
    guard let dial = turn.takeDial(dial) else {
      turn.add(.closeLink(link.id, flush: false))
      return false
    }
    switch dial.purpose {
    case .invitation(let command): return attempts.linkOpened(link, for: command, dial, surroundings, turn)
    case .search(let remote):
      if associations[remote]?.claim(link, turn) == true { return true }
      turn.add(.closeLink(link.id, flush: false))
      search(.strangerAnswered(dial, at: link.opening.traits.remoteAddress), for: remote, turn)
      return false
    }
  }

  /// Passes a fact to the search for a link to this node, which may end its association.
  mutating func search(_ fact: SearchFact, for remote: NodeID, _ turn: Turn) {
    guard let association = associations[remote], let ending = association.search(fact, surroundings, turn)
    else { return }
    end(association, ending, turn)
  }
}
