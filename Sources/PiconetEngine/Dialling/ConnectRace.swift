import PiconetWire

/// Tries the transports that lead to one peer in order of preference, each with a head start over the next; a failure starts the
/// next at once. The first link wins; the failure of every transport is kept.
struct ConnectRace: Sendable {
  /// Where each transport that was wanted leads.
  let addresses: [TransportAddress]
  private var waiting: [(kind: TransportKind, addresses: [TransportAddress])]
  private(set) var running: [TransportKind] = []
  private(set) var failures: [TransportFailure] = []
  private let headStart: Duration
  private(set) var nextDeadline: Instant?
  /// A transport has failed since the last one was dialled: the next need not wait.
  private var isNextDue = false
  /// Transports that were dialled once more.
  private var repeated: Set<TransportKind> = []

  init(addresses: [TransportAddress], preference: [TransportKind], headStart: Duration) {
    self.headStart = headStart
    self.addresses = addresses.filter { preference.contains($0.kind) }
    waiting = preference.compactMap { kind in
      let ofKind = addresses.filter { $0.kind == kind }
      return ofKind.isEmpty ? nil : (kind, ofKind)
    }
  }

  /// Nothing runs and nothing waits: the race is lost.
  var isLost: Bool { waiting.isEmpty && running.isEmpty }

  /// The next transport to dial, if it is time for one.
  mutating func next(at now: Instant) -> (kind: TransportKind, addresses: [TransportAddress])? {
    let isDue = isNextDue || running.isEmpty || nextDeadline.map { $0 <= now } ?? true
    guard !waiting.isEmpty, isDue else { return nil }
    let next = waiting.removeFirst()
    isNextDue = false
    running.append(next.kind)
    nextDeadline = waiting.isEmpty ? nil : now + headStart
    return next
  }

  mutating func failed(_ kind: TransportKind, _ failure: LinkFailure) {
    running.removeAll { $0 == kind }
    isNextDue = true
    if failure.code == .reset, Self.endsWithItsCarrier(kind), repeated.insert(kind).inserted {
      waiting.insert((kind, addresses.filter { $0.kind == kind }), at: 0)
    } else {
      failures.append(TransportFailure(kind, failure))
    }
  }

  /// Over Bluetooth a link shares one connection of the two devices with all others, and a host that ends this as unused while a new
  /// link begins upon it ends the new one too. It is dialled once more.
  private static func endsWithItsCarrier(_ kind: TransportKind) -> Bool {
    switch kind {
    case .l2cap, .rfcomm, .le: true
    case .tcp, .relay, .simulated: false
    }
  }

  /// Time is up: what failed, and those that have not answered.
  var failuresInTime: [TransportFailure] {
    failures + running.map { TransportFailure($0, LinkFailure(.timedOut, "no answer in time")) }
  }

  /// For people.
  static func describe(_ failures: [TransportFailure]) -> String {
    failures.map { "\($0)" }.joined(separator: "; ")
  }
}
