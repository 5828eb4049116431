import PiconetWire

/// The tunnels that this node relays between two members: which halves belong together, and how much may pass.
///
/// A tunnel carries the bytes of a link between two nodes over a third node, of which both are members. The link in it
/// is like any other, with TLS from end to end; a relay sees ciphertext. Tunnels may be nested: the link between us and
/// a relay may itself be in a tunnel.
struct RelayedTunnels {
  /// One half of a relayed tunnel.
  private struct Half: Sendable {
    let other: TunnelPlace
    /// The key that has asked for the tunnel. Its quota counts.
    let opener: PeerID
    let relays: Int
    /// Bytes that arrived over it and do not count against a quota yet.
    var uncharged = 0
    /// Bytes that arrived over it and have been passed on, but for which the sender has no credit yet.
    var owed = 0
    /// Its position among the halves that wait for credit.
    var turn: UInt64 = 0
  }

  private var halves: [TunnelPlace: Half] = [:]
  private var budgets: [PeerID: RateBudget] = [:]
  private var budget: RateBudget?
  private var lastTurn: UInt64 = 0
  /// The quotas; nil if this node does not relay.
  private let quotas: RelayQuotas?
  /// Told of changes to what `nextDeadline` depends on.
  private let watch: DeadlineWatch

  init(_ quotas: RelayQuotas?, _ watch: DeadlineWatch) {
    self.quotas = quotas
    self.watch = watch
  }

  /// The number of tunnels, of two halves each.
  var count: Int { halves.count / 2 }
  var isEmpty: Bool { halves.isEmpty }

  private func count(of opener: PeerID) -> Int { halves.values.count { $0.opener == opener } / 2 }

  private func belong(_ one: TunnelPlace, _ other: TunnelPlace) -> Bool { halves[one]?.other == other }
  private func relays(of place: TunnelPlace) -> Int? { halves[place]?.relays }

  private mutating func append(_ one: TunnelPlace, _ other: TunnelPlace, openedBy opener: PeerID, relays: Int) {
    halves[one] = Half(other: other, opener: opener, relays: relays)
    halves[other] = Half(other: one, opener: opener, relays: relays)
  }

  /// - Parameter quotas: the quotas against which the bytes of its halves count now.
  private mutating func remove(_ place: TunnelPlace, _ quotas: RelayQuotas, at now: Instant) {
    guard let half = halves.removeValue(forKey: place) else { return }
    let other = halves.removeValue(forKey: half.other)
    charge(half.uncharged + (other?.uncharged ?? 0), to: half.opener, quotas, at: now)
    if count(of: half.opener) == 0 { forgetBudget(of: half.opener) }
  }

  /// Counts bytes that have arrived over this half.
  private mutating func arrived(_ count: Int, by place: TunnelPlace) { halves[place]?.uncharged += count }

  /// Notes that bytes that arrived over this half have been passed on. For a tunnel that is over there is no credit.
  private mutating func passed(_ count: Int, of place: TunnelPlace) {
    guard var half = halves[place] else { return }
    half.owed += count
    enqueue(&half)
    halves[place] = half
  }

  /// Puts the half behind all others that wait.
  private mutating func enqueue(_ half: inout Half) {
    if half.turn == 0 {
      lastTurn += 1
      half.turn = lastTurn
    }
  }

  /// Returns whether so much has been passed on for this key, or for all keys, that the key may not open another tunnel
  /// yet. Each tunnel would let more through.
  private func isInDebt(_ key: PeerID, at now: Instant) -> Bool {
    budget?.isInDebt(at: now) == true || budgets[key]?.isInDebt(at: now) == true
  }

  private mutating func charge(_ count: Int, to key: PeerID, _ quotas: RelayQuotas, at now: Instant) {
    guard count > 0 else { return }
    budgets[key, default: RateBudget(rate: quotas.memberRate, at: now)].take(count, at: now)
    var all = budget ?? RateBudget(rate: quotas.rate, at: now)
    all.take(count, at: now)
    budget = all
  }

  /// Takes out the halves whose senders may send more now, until the quotas are used up. Each gets credit for a window
  /// at most, and those that have waited longest come first.
  /// - Returns: the halves, and how much of each has been passed on.
  private mutating func takeDue(_ quotas: RelayQuotas, at now: Instant) -> [(place: TunnelPlace, count: Int)] {
    var due: [(place: TunnelPlace, count: Int)] = []
    let owed = halves.compactMap { $0.value.owed > 0 ? (turn: $0.value.turn, place: $0.key) : nil }
    var waiting = owed.sorted { $0.turn < $1.turn }.map(\.place)[...]
    while budget?.isOpen(at: now) != false, let place = waiting.popFirst() {
      guard var half = halves[place], budgets[half.opener]?.isOpen(at: now) != false else { continue }
      let count = min(half.owed, quotas.window)
      charge(count, to: half.opener, quotas, at: now)
      half.owed -= count
      half.uncharged -= count
      half.turn = 0
      // A half that is owed more waits for its next turn.
      if half.owed > 0 {
        enqueue(&half)
        waiting.append(place)
      }
      halves[place] = half
      due.append((place, count))
    }
    return due
  }

  /// When the next sender that waits for a quota may send more.
  var nextDeadline: Instant? {
    guard let all = budget?.nextTime else { return nil }
    return halves.values.lazy.filter { $0.owed > 0 }.compactMap { half in
      budgets[half.opener].map { max($0.nextTime, all) }
    }.min()
  }

  /// Forgets budgets of keys without a tunnel, but only when there are too many budgets. A key keeps its debt when its
  /// tunnels end. Otherwise it would have a new budget with each tunnel.
  private mutating func forgetBudget(of opener: PeerID) {
    guard budgets.count > Self.keyLimit else { return }
    budgets = budgets.filter { count(of: $0.key) > 0 }
  }

  private static let keyLimit = 256
}

// MARK: - Between two members

extension RelayedTunnels {
  /// Handles a member's request for a tunnel to another member.
  mutating func open(
    _ number: UInt64, to target: NodeID, by opener: Association, isShuttingDown: Bool, _ members: AssociationTable,
    _ turn: Turn
  ) {
    // The number may be that of a tunnel whose end has come with the same read.
    if turn.hasToSettle { settle(members, turn) }
    do throws(Ending) {
      guard let quotas, !isShuttingDown, opener.isStaying else {
        throw Ending(.notAvailable, .us, "this device does not relay")
      }
      guard let other = members[target], other.takesTunnels else {
        throw Ending(.noSuchAssociation, .us, "no member of the relay, or none that takes tunnels")
      }
      let count = opener.relaysBelow + 1 + other.relaysBelow
      guard count <= Int(WireLimits.relays), !members.relays(to: target).contains(opener.node),
        !members.relays(to: opener.node).contains(target)
      else { throw Ending(.unreachable, .us, "more than \(WireLimits.relays) relays, or a way that leads back") }
      let key = opener.node.peer
      // Closed tunnels count until the other end has answered: they occupy its numbers.
      guard self.count < quotas.tunnels, self.count(of: key) < quotas.tunnelsPerMember,
        other.openTunnelCount(ledFor: key) < quotas.tunnelsPerMember
      else { throw Ending(.limitExceeded, .us, "the relay has as many tunnels as it may") }
      guard !isInDebt(key, at: turn.now) else {
        throw Ending(.limitExceeded, .us, "the relay has passed on as much for this key as it may")
      }
      let place = TunnelPlace(node: opener.node, number: number)
      let offer = other.openTunnel(.relayed(place), turn) {
        .offerTunnel(tunnel: $0, from: opener.node, relays: UInt64(count))
      }
      guard let offer else { throw Ending(.limitExceeded, .us, "\(WireLimits.tunnels) tunnels lead there") }
      let otherPlace = TunnelPlace(node: target, number: offer)
      guard opener.relay(tunnel: number, to: otherPlace) else {
        return other.close(tunnel: offer, Ending(.left, .us), isAborted: true, turn)
      }
      append(place, otherPlace, openedBy: key, relays: count)
      opener.bound(tunnel: number, window: quotas.window)
      other.bound(tunnel: offer, window: quotas.window)
    } catch {
      opener.close(tunnel: number, error, isAborted: true, turn)
    }
  }

  /// Passes data that came over one half to the other, and lets senders send more once their bytes have been passed on.
  mutating func settle(_ members: AssociationTable, _ turn: Turn) {
    guard let quotas else { return }
    while let step = turn.takeRelayStep() {
      let (place, source) = (step.place, step.source)
      guard belong(place, source) else { continue }
      if case .data(let bytes) = step.kind { arrived(bytes.count, by: source) }
      // A member that is over has closed its half; that step waits behind this one.
      guard let member = members[place.node] else {
        if case .closed = step.kind { remove(place, quotas, at: turn.now) }
        continue
      }
      switch step.kind {
      case .opened:
        if let count = relays(of: place) {
          member.accept(tunnel: place.number, .relayed(source), relays: count, turn)
        }
      case .data(let bytes): member.write(bytes, toTunnel: place.number, turn)
      case .passed(let count): passed(count, of: place)
      case .closed(let ending):
        // Data that came before is still passed on.
        member.close(tunnel: place.number, ending, isAborted: false, turn)
        remove(place, quotas, at: turn.now)
      }
    }
    giveCredit(members, turn)
  }

  /// Lets senders send more once their bytes have been passed on, as far as the quotas allow.
  mutating func giveCredit(_ members: AssociationTable, _ turn: Turn) {
    guard let quotas, !isEmpty else { return }
    for (place, count) in takeDue(quotas, at: turn.now) {
      // A member that is over needs no credit.
      if let member = members[place.node] { member.tunnelConsumed(place.number, count, turn) }
    }
    // Some sender waits for a quota.
    if halves.values.contains(where: { $0.owed > 0 }) { watch.changed() }
  }
}
