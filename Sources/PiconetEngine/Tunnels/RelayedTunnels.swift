import PiconetWire

/// Tunnels between two members of ours, at the relay: which half belongs to which, and what may pass.
struct RelayedTunnels: Sendable {
  /// One direction's bytes, which have gone on and may not count as consumed yet.
  private struct Half: Sendable {
    let other: TunnelPlace
    /// Whose tunnel it is.
    let opener: PeerID
    let relays: Int
    var owed = 0
  }

  private var halves: [TunnelPlace: Half] = [:]
  private var budgets: [PeerID: RateBudget] = [:]
  private var budget: RateBudget?

  /// Tunnels, of two halves each.
  var count: Int { halves.count / 2 }
  var isEmpty: Bool { halves.isEmpty }

  func count(of opener: PeerID) -> Int { halves.values.count { $0.opener == opener } / 2 }

  func belong(_ one: TunnelPlace, _ other: TunnelPlace) -> Bool { halves[one]?.other == other }
  func relays(of place: TunnelPlace) -> Int? { halves[place]?.relays }

  mutating func append(_ one: TunnelPlace, _ other: TunnelPlace, openedBy opener: PeerID, relays: Int) {
    halves[one] = Half(other: other, opener: opener, relays: relays)
    halves[other] = Half(other: one, opener: opener, relays: relays)
  }

  mutating func remove(_ place: TunnelPlace) {
    guard let half = halves.removeValue(forKey: place) else { return }
    halves[half.other] = nil
    if count(of: half.opener) == 0 { forgetBudget(of: half.opener) }
  }

  /// Bytes of this half have gone on.
  mutating func passed(_ count: Int, of place: TunnelPlace) { halves[place]?.owed += count }

  /// Whether this key has passed on more than it may, and opens no tunnel until that is paid: each would let more
  /// through.
  func isInDebt(_ key: PeerID, at now: Instant) -> Bool { budgets[key]?.isOpen(at: now) == false }

  /// Bytes have come by this half: they count against the quotas now, whatever becomes of the tunnel.
  mutating func charge(_ count: Int, of place: TunnelPlace, _ quotas: RelayQuotas, at now: Instant) {
    guard let half = halves[place] else { return }
    budgets[half.opener, default: RateBudget(rate: quotas.memberRate, at: now)].take(count, at: now)
    if budget == nil { budget = RateBudget(rate: quotas.rate, at: now) }
    budget?.take(count, at: now)
  }

  /// Takes out those whose senders may send more now: how much each has consumed, in order.
  mutating func takeDue(at now: Instant) -> [(place: TunnelPlace, count: Int)] {
    guard budget?.isOpen(at: now) != false else { return [] }
    var due: [(place: TunnelPlace, count: Int)] = []
    for (place, half) in halves where half.owed > 0 {
      guard budgets[half.opener]?.isOpen(at: now) != false else { continue }
      due.append((place, half.owed))
    }
    for (place, _) in due { halves[place]?.owed = 0 }
    return due.sorted { $0.place < $1.place }
  }

  /// Whether some sender waits for a quota.
  var holdsBack: Bool { halves.values.contains { $0.owed > 0 } }

  /// When the next of them may.
  var nextDeadline: Instant? {
    guard let all = budget?.nextTime else { return nil }
    return halves.values.lazy.filter { $0.owed > 0 }.compactMap { half in
      budgets[half.opener].map { max($0.nextTime, all) }
    }.min()
  }

  /// A key without a tunnel keeps its debt until that is paid, or it would have a new budget with each tunnel.
  private mutating func forgetBudget(of opener: PeerID) {
    guard budgets.count > Self.keyLimit else { return }
    budgets = budgets.filter { count(of: $0.key) > 0 }
  }

  private static let keyLimit = 256
}

/// What a half of a relayed tunnel has for the other one. Numbers are used again: it counts only while the two belong
/// together.
struct RelayStep {
  enum Kind {
    case opened
    case data(Bytes)
    /// So many bytes of the other half have left this one's queue.
    case passed(Int)
    case closed(Ending)
  }

  let kind: Kind
  let place: TunnelPlace
  let source: TunnelPlace

  init(_ kind: Kind, to place: TunnelPlace, from source: TunnelPlace) {
    self.kind = kind
    self.place = place
    self.source = source
  }
}
