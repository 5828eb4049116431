/// The kinds of traffic of an association that wait for its link, besides what the link has already. They go in this
/// order, except for tunnels. `transmit` looks for nothing else: a kind that is missing here is never sent, not even
/// along with another kind.
struct WaitingTraffic: OptionSet {
  let rawValue: UInt16

  static let acknowledgement = WaitingTraffic(rawValue: 1 << 0)
  static let credit = WaitingTraffic(rawValue: 1 << 1)
  static let streamCredits = WaitingTraffic(rawValue: 1 << 2)
  /// Frames that are sent again, and control frames behind them.
  static let backlog = WaitingTraffic(rawValue: 1 << 3)
  static let messages = WaitingTraffic(rawValue: 1 << 4)
  static let streams = WaitingTraffic(rawValue: 1 << 5)
  /// Hints that a transfer pauses or continues.
  static let pauses = WaitingTraffic(rawValue: 1 << 6)
  static let offers = WaitingTraffic(rawValue: 1 << 7)
  static let chunks = WaitingTraffic(rawValue: 1 << 8)
  static let goodbye = WaitingTraffic(rawValue: 1 << 9)
  static let tunnelCredits = WaitingTraffic(rawValue: 1 << 10)
  /// Data that goes through tunnels. It goes before `streams`, and gets a quarter of the room for bulk while streams or
  /// chunks wait too.
  static let tunnels = WaitingTraffic(rawValue: 1 << 11)

  /// Traffic that we send of our own accord. It stops while the remote side leaves too much unacknowledged.
  static let ownAccord: WaitingTraffic = [.messages, .streams, .tunnels, .pauses, .offers]
}

extension Association {
  /// The kinds that `transmit` sends when there is room. If nothing waits, more room is no reason for a flush.
  var waiting: WaitingTraffic {
    var waiting: WaitingTraffic = []
    if sequenced.isAcknowledgementDue { waiting.insert(.acknowledgement) }
    if inbox.isCreditDue || incomingChannels.hasCredits { waiting.insert(.credit) }
    if streams.hasCredits { waiting.insert(.streamCredits) }
    if sequenced.isResending { waiting.insert(.backlog) }
    if !outbox.isEmpty || !outgoingChannels.isEmpty { waiting.insert(.messages) }
    if streams.hasTurns { waiting.insert(.streams) }
    if tunnels.hasCredits { waiting.insert(.tunnelCredits) }
    if tunnels.hasTurns { waiting.insert(.tunnels) }
    if transfers.owesPauses { waiting.insert(.pauses) }
    if transfers.areOffersHeldBack { waiting.insert(.offers) }
    if transfers.turnCount > 0 { waiting.insert(.chunks) }
    if let leaving, !leaving.isTold { waiting.insert(.goodbye) }
    return waiting
  }

  /// Whether some traffic waits until less is kept.
  var waitsForAcknowledgement: Bool { !waiting.isDisjoint(with: .ownAccord) }
}
