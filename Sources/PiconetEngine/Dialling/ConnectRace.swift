import PiconetWire

/// Tries the transports that lead to one peer in order of preference, each with a head start over the next; a failure
/// starts the next at once. The first link wins; the failure of every transport is kept.
struct ConnectRace: Sendable {
  /// All addresses of the transports that were asked for.
  private(set) var addresses: [TransportAddress]
  /// At this number no more addresses are learned: a device that claims to be the peer may claim to be anywhere.
  static let addressLimit = 64
  /// How many of them one dial is given.
  static let addressesAtOnce = 16
  private var waiting: [TransportKind]
  private(set) var running: [TransportKind] = []
  private(set) var failures: [TransportFailure] = []
  /// Addresses where another key has answered, or that failed on their own: not dialled again.
  private var usedUp: Set<TransportAddress> = []
  /// Addresses that were reached and said nothing in the time that one of several has: dialled again, one by one, once
  /// no others are left.
  private var silent: Set<TransportAddress> = []
  /// What the running dial of each transport tries.
  private var dialled: [TransportKind: [TransportAddress]] = [:]
  /// Transports whose addresses are dialled one after the other. Each relay is a member of its own, and one that opens
  /// a tunnel and passes nothing on must not stand for all.
  private var oneByOne: Set<TransportKind> = [.relay]
  private let preference: [TransportKind]
  private let headStart: Duration
  private(set) var nextDeadline: Instant?
  /// A transport has failed since the last one was dialled, so the next need not wait.
  private var isNextDue = false
  /// Transports that were dialled a second time.
  private var repeated: Set<TransportKind> = []

  init(addresses: [TransportAddress], preference: [TransportKind], headStart: Duration) {
    self.preference = preference
    self.headStart = headStart
    self.addresses = addresses.filter { preference.contains($0.kind) }
    waiting = preference.filter { kind in addresses.contains { $0.kind == kind } }
  }

  /// The peer has come in sight elsewhere. Where its transport is being dialled, what is new is dialled once that
  /// fails.
  mutating func learned(_ found: [TransportAddress], at now: Instant) {
    let new = found.filter { preference.contains($0.kind) && !addresses.contains($0) }
      .prefix(max(0, Self.addressLimit - addresses.count))
    addresses += new
    for kind in preference where new.contains(where: { $0.kind == kind }) {
      guard !waiting.contains(kind), !running.contains(kind) else { continue }
      // Those that run keep their head start.
      if waiting.isEmpty, !running.isEmpty { nextDeadline = now + headStart }
      waiting.append(kind)
    }
    waiting = preference.filter { waiting.contains($0) }
  }

  /// Nothing runs and nothing waits: the race is lost.
  var isLost: Bool { waiting.isEmpty && running.isEmpty }

  /// The next transport to dial, if it is time for one.
  mutating func next(at now: Instant) -> (kind: TransportKind, addresses: [TransportAddress])? {
    let isDue = isNextDue || running.isEmpty || nextDeadline.map { $0 <= now } ?? true
    guard !waiting.isEmpty, isDue else { return nil }
    let kind = waiting.removeFirst()
    let left = addressesLeft(kind)
    let next = Array(left.prefix(oneByOne.contains(kind) ? 1 : Self.addressesAtOnce))
    isNextDue = false
    running.append(kind)
    // A transport that is dialled again gets no second head start: otherwise invented addresses would put off the other
    // transports.
    let headEnd = dialled[kind] == nil ? now + headStart : min(nextDeadline ?? now, now + headStart)
    dialled[kind] = next
    nextDeadline = waiting.isEmpty ? nil : headEnd
    return (kind, next)
  }

  private func addressesLeft(_ kind: TransportKind) -> [TransportAddress] {
    let left = addresses.filter { $0.kind == kind && !usedUp.contains($0) }
    let first = left.filter { !silent.contains($0) }
    return first.isEmpty ? Array(left.prefix(1)) : first
  }

  /// Whether the running dial of this transport tries all the addresses that it has.
  func triesAll(_ kind: TransportKind) -> Bool {
    dialled[kind]?.count == addresses.count { $0.kind == kind }
  }

  /// A key other than the wanted one has answered at `remoteAddress`. Any device can claim that a peer is at an
  /// address, so this is a failure of the address alone: the remaining ones are dialled next.
  mutating func answeredByStranger(_ kind: TransportKind, at remoteAddress: String, _ failure: LinkFailure) {
    running.removeAll { $0 == kind }
    isNextDue = true
    failures.append(TransportFailure(kind, failure))
    let tried = dialled[kind] ?? []
    let answering = tried.filter { $0.leads(to: remoteAddress) }
    if !answering.isEmpty || tried.count == 1 {
      usedUp.formUnion(answering.isEmpty ? tried : answering)
    } else {
      // It may be a host name, for example: dialled one by one, each address answers for itself.
      oneByOne.insert(kind)
    }
    dialAgain(kind)
  }

  /// The transport goes on with what is left of its addresses.
  private mutating func dialAgain(_ kind: TransportKind) {
    if !addressesLeft(kind).isEmpty { waiting.insert(kind, at: 0) }
  }

  /// A dial of this transport has failed.
  /// - Parameter remoteAddress: the one of the dialled addresses that answered and then failed; nil if none did.
  mutating func failed(_ kind: TransportKind, _ failure: LinkFailure, at remoteAddress: String? = nil) {
    running.removeAll { $0 == kind }
    isNextDue = true
    // Over Bluetooth a link shares one connection of the two devices with all others, and a host that ends that
    // connection as unused while a new link begins on it ends the new link too. It is dialled once more.
    if failure.code == .reset, kind.usesBluetooth, repeated.insert(kind).inserted {
      waiting.insert(kind, at: 0)
      return
    }
    failures.append(TransportFailure(kind, failure))
    let tried = dialled[kind] ?? []
    let answering = remoteAddress.map { address in tried.filter { $0.leads(to: address) } } ?? []
    if !answering.isEmpty {
      // The address may have been planted while the peer is at another. Or it is the peer's, and slow.
      if failure.code == .timedOut, tried.count > 1 {
        silent.formUnion(answering)
      } else {
        usedUp.formUnion(answering)
      }
    } else if oneByOne.contains(kind) {
      usedUp.formUnion(tried)
    } else if tried.count > 1, !kind.usesBluetooth, failure.code == .authentication || failure.code == .reset {
      // Something answered first at one of them, and can't or won't do TLS: the peer may be at another.
      oneByOne.insert(kind)
    } else {
      // What is left are addresses that this dial has not tried.
      usedUp.formUnion(tried)
    }
    dialAgain(kind)
  }

  /// The link that had won broke before it was of use: what it has cut short goes on.
  mutating func winnerBroke(_ kind: TransportKind, at remoteAddress: String, _ detail: String) {
    waiting = preference.filter { $0 != kind && (waiting.contains($0) || running.contains($0)) }
    running.removeAll()
    // The peer may have dialled us where we can't dial it.
    guard addresses.contains(where: { $0.kind == kind }) else { return }
    failed(kind, LinkFailure(.reset, detail), at: remoteAddress)
  }

  /// Whether a failure of this transport concerns one address of several.
  func isOneByOne(_ kind: TransportKind) -> Bool { oneByOne.contains(kind) }

  /// What failed until time was up, including the transports that have not answered.
  var failuresInTime: [TransportFailure] {
    failures
      + running.map { kind in
        // A radio hears nothing from a device that is off or far away: its silence is all there is to report.
        let words = kind.usesBluetooth ? "the device does not answer: is it on and near?" : ""
        return TransportFailure(kind, LinkFailure(.timedOut, words))
      }
  }

  /// The failures as a human-readable message. Transports that failed for the same reason are listed together.
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

extension TransportAddress {
  /// Whether a link to `remoteAddress` leads to this address; without a number an address means the whole device.
  func leads(to remoteAddress: String) -> Bool { remoteAddress == text || remoteAddress.hasPrefix(text + "/") }
}
