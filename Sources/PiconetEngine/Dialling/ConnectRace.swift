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
    // Over Bluetooth a link shares one connection of the two devices with all others, and a host that ends this as unused while a new
    // link begins upon it ends the new one too. It is dialled once more.
    if failure.code == .reset, Self.isOfRadio(kind), repeated.insert(kind).inserted {
      waiting.insert((kind, addresses.filter { $0.kind == kind }), at: 0)
    } else {
      failures.append(TransportFailure(kind, failure))
    }
  }

  private static func isOfRadio(_ kind: TransportKind) -> Bool {
    switch kind {
    case .l2cap, .rfcomm, .le: true
    case .tcp, .relay, .simulated: false
    }
  }

  /// Time is up: what failed, and those that have not answered.
  var failuresInTime: [TransportFailure] {
    failures
      + running.map { kind in
        // A radio hears nothing of a device that is off or far away: its silence is all there is to tell.
        let words = Self.isOfRadio(kind) ? "the device does not answer: is it on and near?" : ""
        return TransportFailure(kind, LinkFailure(.timedOut, words))
      }
  }

  /// For people: transports that failed for the same reason are told together.
  static func describe(_ failures: [TransportFailure]) -> String {
    var told: [(kinds: [String], reason: String)] = []
    for failure in failures {
      let reason = failure.failure.description
      if let index = told.firstIndex(where: { $0.reason == reason }) {
        told[index].kinds.append(failure.transport.rawValue)
      } else {
        told.append(([failure.transport.rawValue], reason))
      }
    }
    return told.map { "\($0.kinds.joined(separator: ", ")): \($0.reason)" }.joined(separator: "; ")
  }
}
