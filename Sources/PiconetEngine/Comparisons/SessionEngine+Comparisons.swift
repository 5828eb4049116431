import PiconetWire

/// Comparisons of short codes with members: which association each belongs to, and whose question is put.
extension SessionEngine {
  /// Passes a fact about comparing codes to an association, and does what it asks for.
  mutating func compare(_ fact: ComparisonFact, _ association: Association, _ turn: Turn) {
    follow(association.compare(fact, turn), of: association, turn)
  }

  mutating func compare(_ node: NodeID, _ command: ComparisonCommand, _ id: CommandID, _ turn: Turn) {
    guard let association = associations[node] else {
      return turn.reply(id, .failed(Association.notConnected))
    }
    follow(association.take(command, id, turn), of: association, turn)
  }

  /// Ends a comparison that a command of ours has asked for.
  mutating func cancelComparison(_ id: CommandID, _ comparison: CommandID, _ turn: Turn) {
    if let association = associations.comparing(by: comparison) { compare(.cancelled, association, turn) }
    turn.reply(id, .done)
  }

  /// The driver has drawn a nonce, or derived a code.
  /// - Returns: whether it was for a comparison.
  mutating func compare(_ fact: ComparisonFact, awaiting id: CodeID, _ turn: Turn) -> Bool {
    guard let association = associations.comparing(awaiting: id) else { return false }
    compare(fact, association, turn)
    return true
  }

  private mutating func follow(_ request: ComparisonRequest?, of association: Association, _ turn: Turn) {
    switch request {
    case .displaces(let other): displace(questionOf: other, turn)
    case .breach(let error): if let link = association.link { breach(link, error, turn) }
    case nil: break
    }
  }

  /// A question that waits in the queue has to make room.
  mutating func displace(questionOf node: NodeID, _ turn: Turn) {
    guard let association = associations[node] else { return }
    if association.isMember {
      compare(.displaced, association, turn)
    } else {
      negotiate(.displaced, association, turn)
    }
  }
}
