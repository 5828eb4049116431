/// What of an association waits for its link, beside what the link has already, in the order in which it goes.
/// `transmit` looks for nothing else, so that what is missing here never goes at all, rather than only until something
/// else is there to take it along.
struct WaitingTraffic: OptionSet {
  let rawValue: UInt16

  static let acknowledgement = WaitingTraffic(rawValue: 1 << 0)
  static let credit = WaitingTraffic(rawValue: 1 << 1)
  static let streamCredits = WaitingTraffic(rawValue: 1 << 2)
  /// What is sent again, and control frames behind it.
  static let backlog = WaitingTraffic(rawValue: 1 << 3)
  static let messages = WaitingTraffic(rawValue: 1 << 4)
  static let streams = WaitingTraffic(rawValue: 1 << 5)
  /// Hints that a transfer rests or goes on.
  static let pauses = WaitingTraffic(rawValue: 1 << 6)
  static let offers = WaitingTraffic(rawValue: 1 << 7)
  static let chunks = WaitingTraffic(rawValue: 1 << 8)
  static let goodbye = WaitingTraffic(rawValue: 1 << 9)

  /// What goes of our own accord, and stops while the remote side leaves too much unacknowledged.
  static let ownAccord: WaitingTraffic = [.messages, .streams, .pauses, .offers]
}

extension Association {
  /// What `transmit` frames when there is room: where nothing waits, more room is no reason for a flush.
  var waiting: WaitingTraffic {
    var waiting: WaitingTraffic = []
    if sequenced.isAcknowledgementDue { waiting.insert(.acknowledgement) }
    if inbox.isCreditDue { waiting.insert(.credit) }
    if streams.hasCredits { waiting.insert(.streamCredits) }
    if sequenced.isResending { waiting.insert(.backlog) }
    if !outbox.isEmpty { waiting.insert(.messages) }
    if streams.hasTurns { waiting.insert(.streams) }
    if !transfers.pausesDue.isEmpty { waiting.insert(.pauses) }
    if transfers.areOffersHeldBack { waiting.insert(.offers) }
    if transfers.turns.count > 0 { waiting.insert(.chunks) }
    if let leaving, !leaving.isTold { waiting.insert(.goodbye) }
    return waiting
  }

  /// Something waits until less is kept.
  var waitsForAcknowledgement: Bool { !waiting.isDisjoint(with: .ownAccord) }
}
