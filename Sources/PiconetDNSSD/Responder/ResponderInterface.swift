/// The state of a responder on one interface.
struct ResponderInterface: Sendable {
  enum Phase: Sendable {
    /// We are asking whether the names are free (RFC 6762, section 8.1).
    case probing(sent: Int, due: Duration)
    /// The names belong to us, and we announce them (section 8.3).
    case announcing(sent: Int, due: Duration)
    case established
  }

  var traits: InterfaceTraits
  var phase: Phase
  /// When each of our records was last sent by multicast.
  var lastMulticast: [ResourceRecord: Duration] = [:]
  var lastAnnouncement: Duration?
  var pending: [PendingResponse] = []
  private var unicastWindow: Duration = .zero
  private var unicastCount = 0

  init(traits: InterfaceTraits, phase: Phase) {
    self.traits = traits
    self.phase = phase
  }

  var ownsNames: Bool { if case .probing = phase { false } else { true } }

  var hasAnnounced: Bool {
    switch phase {
    case .probing: false
    case .announcing: lastAnnouncement != nil
    case .established: true
    }
  }

  var nextDeadline: Duration? {
    let due: Duration? =
      switch phase {
      case .probing(_, let due), .announcing(_, let due): due
      case .established: nil
      }
    return (pending.map(\.due) + (due.map { [$0] } ?? [])).min()
  }

  /// The earliest time at which all of the records may be multicast.
  func multicastAllowed(_ records: [ResourceRecord], interval: Duration, now: Duration) -> Duration {
    let interval = traits.isLoopback ? MulticastDNS.loopbackMulticastInterval : interval
    return records.reduce(now) { latest, record in max(latest, lastMulticast[record].map { $0 + interval } ?? latest) }
  }

  /// Returns whether this second's budget allows another unicast answer, which it then takes from it.
  mutating func mayAnswerByUnicast(at now: Duration) -> Bool {
    if now - unicastWindow >= .seconds(1) {
      unicastWindow = now
      unicastCount = 0
    }
    unicastCount += 1
    return unicastCount <= MulticastDNS.unicastAnswersPerSecond
  }
}

/// An answer that waits: for others to give it first, for more known answers, or for the rate limit.
struct PendingResponse: Sendable {
  var querier: MessageSource
  var destination: Transmission.Destination
  var records: [ResourceRecord]
  var asked: Duration
  var due: Duration
  /// Whether the query was truncated, so that its known answers go on in the next message (RFC 6762, section 7.2).
  var awaitsKnownAnswers: Bool
}
