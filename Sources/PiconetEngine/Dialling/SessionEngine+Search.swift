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
    case .search(let remote):
      guard let association = associations[remote] else { return }
      if let ending = association.searchDialFailed(kind, failure, surroundings, turn) {
        end(association, ending, turn)
      }
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
    case .search(let remote): return claim(link, forSearchOf: remote, kind, turn)
    }
  }

  private mutating func claim(
    _ link: Link, forSearchOf remote: NodeID, _ kind: TransportKind, _ turn: Turn
  ) -> Bool {
    let association = associations[remote]
    if association?.claim(link, turn) == true {
      link.searchedFor = remote
      return true
    }
    turn.add(.closeLink(link.id, flush: false))
    guard let association else { return false }
    let address = link.opening.traits.remoteAddress
    if let ending = association.strangerAnswered(kind, at: address, surroundings, turn) {
      end(association, ending, turn)
    }
    return false
  }

  /// Another incarnation of the peer has answered where this one was.
  mutating func otherAnswered(_ remote: NodeID, on link: Link, _ turn: Turn) {
    guard let association = associations[remote] else { return }
    if let ending = association.otherAnswered(over: link.opening.traits.kind, surroundings) {
      end(association, ending, turn)
    }
  }

  /// What the table has learned may be what a search waits for.
  mutating func lookAgain(_ change: DiscoveryTable.Change, _ turn: Turn) {
    switch change {
    case .found(let summary), .changed(let summary):
      guard let association = associations[summary.node] else { return }
      association.sighted(surroundings, turn)
    case .lost: break
    }
  }

  /// A member may move to a better transport.
  mutating func lookForBetter(_ association: Association, _ turn: Turn) {
    association.lookForBetter(surroundings, turn)
  }

  /// The addresses of the attempt that has made this link, of all its transports: whoever gave them meant one device.
  func addressesDialled(for link: Link) -> [TransportAddress] {
    guard link.isDialler else { return [] }
    let attempted = attempts.addresses(dialledFor: link.id)
    return attempted.isEmpty && link.searchedFor == nil
      ? [TransportAddress(kind: link.opening.traits.kind, text: link.opening.traits.remoteAddress)] : attempted
  }
}
