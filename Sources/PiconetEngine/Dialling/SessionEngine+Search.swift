import PiconetWire

/// Dials and links of attempts and searches, and what discovery tells them.
extension SessionEngine {
  var surroundings: Surroundings {
    Surroundings(budgets: turn.budgets, discovery: discovery)
  }

  mutating func dialFailed(_ dial: DialID, _ failure: LinkFailure, _ turn: Turn) {
    guard let (purpose, kind) = turn.dials.end(dial) else { return }
    switch purpose {
    case .invitation(let command): dialFailed(of: command, kind, failure, turn)
    case .search(let remote): search(.dialFailed(kind, failure), for: remote, turn)
    }
  }

  /// A dial has opened a link.
  /// - Returns: false if nobody waits for it any more, or it leads to somebody else; it is closed then.
  mutating func claim(_ link: Link, from dial: DialID, _ turn: Turn) -> Bool {
    guard let (purpose, kind) = turn.dials.end(dial) else {
      turn.add(.closeLink(link.id, flush: false))
      return false
    }
    switch purpose {
    case .invitation(let command): return claim(link, for: command, kind, turn)
    case .search(let remote):
      if associations[remote]?.claim(link, turn) == true { return true }
      turn.add(.closeLink(link.id, flush: false))
      search(.strangerAnswered(kind, at: link.opening.traits.remoteAddress), for: remote, turn)
      return false
    }
  }

  /// Tells the search for a link to this node of something, which may be the end of its association.
  mutating func search(_ fact: SearchFact, for remote: NodeID, _ turn: Turn) {
    guard let association = associations[remote], let ending = association.search(fact, surroundings, turn)
    else { return }
    end(association, ending, turn)
  }

  /// The addresses of the attempt that has made this link, of all its transports: whoever gave them meant one device.
  func addressesDialled(for link: Link) -> [TransportAddress] {
    guard link.isDialler else { return [] }
    let attempted = attempts.addresses(dialledFor: link.id)
    return attempted.isEmpty && link.searchedFor == nil
      ? [TransportAddress(kind: link.opening.traits.kind, text: link.opening.traits.remoteAddress)] : attempted
  }
}
