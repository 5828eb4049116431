import PiconetWire

/// Comparisons of short codes with members: which association each belongs to, and which question is shown next.
extension SessionEngine {
  /// Passes a fact about comparing codes to an association, and carries out its request.
  mutating func compare(_ fact: ComparisonFact, _ association: Association, _ turn: Turn) {
    follow(association.compare(fact, turn), of: association, turn)
  }

  mutating func compare(_ node: NodeID, _ command: ComparisonCommand, _ id: CommandID, _ turn: Turn) {
    guard let association = associations[node] else {
      return turn.reply(id, .failed(Association.notConnected))
    }
    follow(association.take(command, id, turn), of: association, turn)
  }

  /// Ends a comparison that a command of the application began.
  mutating func cancelComparison(_ id: CommandID, _ comparison: CommandID, _ turn: Turn) {
    if let association = associations.comparing(by: comparison) { compare(.cancelled, association, turn) }
    turn.reply(id, .done)
  }

  /// Passes on a nonce that the driver has drawn, or a code that it has derived.
  /// - Returns: whether a comparison was waiting for it.
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

  /// Removes a question that has to make room in the queue.
  mutating func displace(questionOf node: NodeID, _ turn: Turn) {
    guard let association = associations[node] else { return }
    if association.isMember {
      compare(.displaced, association, turn)
    } else {
      negotiate(.displaced, association, turn)
    }
  }
}
