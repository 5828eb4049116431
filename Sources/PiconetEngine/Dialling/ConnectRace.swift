import PiconetWire

/// Tries the addresses that may lead to one key, over all transports.
///
/// Transports begin in order of preference, each with a head start over the next. A transport that fails starts the
/// next one at once. Within a transport, addresses are dialled side by side (`DialPace`), so that a stalled one does
/// not hold up the others. The first link wins. The failure of every address is kept.
struct ConnectRace: Sendable {
  /// All addresses of the requested transports: those of the wanted node, and of other nodes with its key.
  private(set) var addresses: [TransportAddress]
  /// The limit on addresses; beyond it no more are added. A device that claims to be the peer may name any number of
  /// places.
  static let addressLimit = 64
  /// The number of addresses of one device that one dial over Bluetooth gets.
  static let addressesAtOnce = 16
  /// How long only the wanted node's own addresses are dialled. Any device can advertise the key under another
  /// incarnation, so other nodes of the key are dialled too. But each of them may be another program of that device.
  static let ownTime = Duration.milliseconds(400)

  private struct Dial {
    let kind: TransportKind
    let addresses: [TransportAddress]
  }

  /// The number of dials over a transport, and when its next one may begin.
  private struct Lane {
    var dials = 0
    var next: Instant
    var isNextDue = false
  }

  private var dials: [Dial] = []
  /// Transports that were dialled.
  private var lanes: [TransportKind: Lane] = [:]
  /// Addresses of other nodes of the key.
  private var others: Set<TransportAddress>
  private var othersBegin: Instant?
  private var areOthersDue = false
  private var isOthersTurn = false
  private var losses: [TransportFailure] = []
  /// Addresses where another key has answered, or that failed: not dialled again.
  private var usedUp: Set<TransportAddress> = []
  private var refused: Set<TransportAddress> = []
  /// Addresses that were reached and sent nothing in time, or were busy. They are dialled again, one by one, when no
  /// others are left.
  private var silent: Set<TransportAddress> = []
  /// Transports whose addresses are dialled one after the other. Each relay is a different member, and a relay that
  /// opens a tunnel but passes nothing on must not count for all.
  private var oneByOne: Set<TransportKind> = [.relay]
  private let preference: [TransportKind]
  private let headStart: Duration
  private var headEnd: Instant?
  /// Whether a transport has failed since the last one began, so that the next need not wait.
  private var isNextDue = false
  /// Transports that were dialled a second time.
  private var repeated: Set<TransportKind> = []

  /// - Parameters:
  ///   - addresses: the addresses at which the wanted node is said to be, best first.
  ///   - others: the addresses at which other nodes of its key are said to be, best first.
  init(
    addresses: [TransportAddress], others: [TransportAddress] = [], preference: [TransportKind], headStart: Duration
  ) {
    self.preference = preference
    self.headStart = headStart
    self.addresses = addresses.filter { preference.contains($0.kind) }
    self.others = []
    add(others, ofOthers: true)
  }

  private mutating func add(_ found: [TransportAddress], ofOthers: Bool) {
    for address in found where preference.contains(address.kind) {
      if !ofOthers { others.remove(address) }
      // The other nodes may be invented, in any number, so they get only half of the room.
      let hasRoom =
        addresses.count < Self.addressLimit && (!ofOthers || others.count < Self.addressLimit / 2)
      guard hasRoom, !addresses.contains(address) else { continue }
      addresses.append(address)
      if ofOthers { others.insert(address) }
    }
  }

  /// Adds addresses at which the peer was sighted since.
  /// - Parameter ofOthers: whether they belong to other nodes of its key.
  mutating func learned(_ found: [TransportAddress], ofOthers: Bool = false, at now: Instant) {
    let idle = Set(waiting)
    add(found, ofOthers: ofOthers)
    // Running transports keep their head start.
    if idle.isEmpty, !dials.isEmpty, waiting.contains(where: { lanes[$0] == nil }) { headEnd = now + headStart }
  }

  // MARK: Running dials

  /// The transports that are being dialled, in the order in which they began.
  var running: [TransportKind] {
    dials.reduce(into: []) { kinds, dial in if !kinds.contains(dial.kind) { kinds.append(dial.kind) } }
  }

  private func runs(_ kind: TransportKind) -> Bool { dials.contains { $0.kind == kind } }

  private func isOpen(_ address: TransportAddress) -> Bool { areOthersDue || !others.contains(address) }

  private func isLeft(_ address: TransportAddress) -> Bool {
    !usedUp.contains(address) && !dials.contains { $0.addresses.contains(address) }
  }

  /// The transports that have addresses left and no running dial, those that have begun before first.
  private var waiting: [TransportKind] {
    let idle = preference.filter { kind in
      !runs(kind) && addresses.contains { $0.kind == kind && isOpen($0) && isLeft($0) }
    }
    return idle.filter { lanes[$0] != nil } + idle.filter { lanes[$0] == nil }
  }

  /// Whether the race is lost: nothing runs and nothing waits.
  var isLost: Bool { dials.isEmpty && !addresses.contains { !usedUp.contains($0) } }

  /// When `next` may return another dial; nil if it returns none before an address is learned or a dial fails.
  var nextDeadline: Instant? {
    var times = waiting.isEmpty ? [] : [headEnd].compactMap(\.self)
    if !areOthersDue, addresses.contains(where: { others.contains($0) && isLeft($0) }), let othersBegin {
      times.append(othersBegin)
    }
    for (kind, lane) in lanes where runs(kind) && group(kind) != nil { times.append(lane.next) }
    return times.min()
  }

  /// Returns the next dial, if it is time for one.
  mutating func next(at now: Instant) -> (kind: TransportKind, addresses: [TransportAddress])? {
    let isOwnOver = !addresses.contains { !others.contains($0) && !usedUp.contains($0) }
    if !areOthersDue, !others.isEmpty, isOwnOver || othersBegin.map({ $0 <= now }) ?? false {
      (areOthersDue, isOthersTurn) = (true, true)
      if others.contains(where: { isLeft($0) && !runs($0.kind) }) { isNextDue = true }
    }
    for kind in preference where runs(kind) {
      guard let lane = lanes[kind], lane.isNextDue || lane.next <= now, let group = group(kind) else { continue }
      return begin(kind, group, now)
    }
    guard let kind = waiting.first, isNextDue || dials.isEmpty || headEnd.map({ $0 <= now }) ?? true,
      let group = group(kind)
    else { return nil }
    isNextDue = false
    // A transport that is dialled again gets no second head start. Otherwise invented addresses would delay the other
    // transports.
    headEnd = lanes[kind] == nil ? now + headStart : min(headEnd ?? now, now + headStart)
    return begin(kind, group, now)
  }

  private mutating func begin(
    _ kind: TransportKind, _ group: [TransportAddress], _ now: Instant
  ) -> (kind: TransportKind, addresses: [TransportAddress]) {
    var lane = lanes[kind] ?? Lane(next: now)
    lane.next = now + DialPace(kind).pause(after: lane.dials)
    lane.dials += 1
    lane.isNextDue = false
    lanes[kind] = lane
    dials.append(Dial(kind: kind, addresses: group))
    if othersBegin == nil { othersBegin = now + Self.ownTime }
    if areOthersDue { isOthersTurn = !others.contains(group[0]) }
    return (kind, group)
  }

  /// Returns the addresses of the next dial of a transport; nil if it has none left, or its limit of dials is reached.
  private func group(_ kind: TransportKind) -> [TransportAddress]? {
    let isSingle = oneByOne.contains(kind)
    let count = dials.count { $0.kind == kind }
    guard count < (isSingle ? 1 : DialPace(kind).atOnce) else { return nil }
    let left = addresses.filter { $0.kind == kind && isOpen($0) && isLeft($0) }
    let fresh = left.filter { !silent.contains($0) }
    guard let first = fresh.first(where: { others.contains($0) == isOthersTurn }) ?? fresh.first else {
      return count == 0 ? left.first.map { [$0] } : nil
    }
    // A device takes the dials of one radio one after the other anyway.
    guard kind.usesBluetooth, !isSingle else { return [first] }
    return Array(fresh.filter { $0.host == first.host }.prefix(Self.addressesAtOnce))
  }

  // MARK: Failures

  /// Removes a dial of these addresses, which has ended.
  private mutating func ended(_ kind: TransportKind, _ tried: [TransportAddress]) {
    let isLast = dials.last { $0.kind == kind }?.addresses == tried
    if let index = dials.firstIndex(where: { $0.kind == kind && $0.addresses == tried }) { dials.remove(at: index) }
    if isLast || !runs(kind) { lanes[kind]?.isNextDue = true }
    if !runs(kind) { isNextDue = true }
  }

  /// Handles an answer at `remoteAddress` from a key other than the wanted one. Any device can claim that a peer is at
  /// an address, so only this address has failed.
  mutating func answeredByStranger(
    _ kind: TransportKind, _ tried: [TransportAddress], at remoteAddress: String, _ failure: LinkFailure
  ) {
    ended(kind, tried)
    losses.append(TransportFailure(kind, failure))
    let answering = tried.filter { $0.leads(to: remoteAddress) }
    if !answering.isEmpty || tried.count == 1 {
      usedUp.formUnion(answering.isEmpty ? tried : answering)
    } else {
      // If addresses are dialled one by one, each fails only for itself.
      oneByOne.insert(kind)
    }
  }

  /// Handles a failed dial.
  /// - Parameters:
  ///   - tried: the addresses of the dial.
  ///   - remoteAddress: the address that answered and then failed; nil if none did.
  mutating func failed(
    _ kind: TransportKind, _ tried: [TransportAddress], _ failure: LinkFailure, at remoteAddress: String? = nil
  ) {
    ended(kind, tried)
    // Over Bluetooth all links of two devices share one connection. A host may end that connection as unused while a
    // new link begins on it, which ends the new link too. So it is dialled once more.
    if failure.code == .reset, kind.usesBluetooth, repeated.insert(kind).inserted { return }
    // Another of our own dials may have had the radio.
    if failure.code == .busy, runs(kind), silent.isDisjoint(with: tried) { return silent.formUnion(tried) }
    losses.append(TransportFailure(kind, failure))
    if failure.code == .refused { refused.formUnion(tried) }
    let answering = remoteAddress.map { address in tried.filter { $0.leads(to: address) } } ?? []
    if answering.isEmpty {
      usedUp.formUnion(tried)
    } else if failure.code == .timedOut, tried.count > 1 {
      // The address may have been planted while the peer is at another. Or it is the peer's, and slow.
      silent.formUnion(answering)
    } else {
      usedUp.formUnion(answering)
    }
  }

  /// Handles the winning link's break before it was of use: the dials that it cut short continue.
  mutating func winnerBroke(_ kind: TransportKind, at remoteAddress: String, _ detail: String) {
    dials.removeAll()
    let tried = addresses.filter { $0.kind == kind && $0.leads(to: remoteAddress) }
    // The peer may have dialled us from where we can't dial it. A host name in the list stands for no more than this
    // one address.
    let won = tried.isEmpty ? addresses.filter { $0.kind == kind && isLeft($0) }.prefix(1) : tried[...]
    if !won.isEmpty { failed(kind, Array(won), LinkFailure(.reset, detail), at: remoteAddress) }
    isNextDue = true
  }

  // MARK: Outcomes

  /// Returns whether every address of the wanted node over this transport has refused.
  func isRefusedEverywhere(_ kind: TransportKind) -> Bool {
    addresses.allSatisfy { $0.kind != kind || others.contains($0) || refused.contains($0) }
  }

  /// How each transport has failed so far.
  var failures: [TransportFailure] { Self.merged(losses) }

  /// The failures until time was up, including the transports that have not answered.
  var failuresInTime: [TransportFailure] {
    Self.merged(
      losses
        + running.map { kind in
          // A radio hears nothing from a device that is off or far away. Its silence is all that can be reported.
          let words = kind.usesBluetooth ? "the device does not answer: is it on and near?" : ""
          return TransportFailure(kind, LinkFailure(.timedOut, words))
        })
  }
}
