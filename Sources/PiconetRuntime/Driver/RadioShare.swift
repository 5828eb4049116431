import PiconetEngine

/// The access that a searching node has to the radio.
enum RadioAccess: Sendable, Hashable {
  /// Nothing else uses it.
  case free
  /// Others send, and it is this node's turn to scan meanwhile.
  case turn
  /// It is needed for something else: no scan.
  case busy
}

/// The nodes of a host that may scan, as a value: uses of the radio go in, each node's access comes out.
///
/// While a node dials or makes a handshake none scans: Linux can't connect over LE while it does, and paging suffers
/// from it. Handshakes of accepted links count only for a while (`RadioUse.accepted`).
///
/// Bulk may go on for minutes. A node that searches meanwhile, and itself sends and receives little, gets turns: the
/// first one at once, and no more than a tenth of the time in all, so that bulk loses at most a tenth where a scan
/// stops it altogether.
///
/// Dials may follow one another for minutes, too: to a lost member, or to one that never answers. A node that dials
/// gets turns between them once no node has been able to scan for an interval: the wanted peer, or another way to it,
/// may be where only a scan finds it.
struct RadioShare<User: Hashable & Sendable>: Sendable {
  /// The length of a turn: an LE advertisement is heard within 1.3 s, and then the device is asked for its record.
  static var turn: Duration { .seconds(2) }
  /// The least time from the beginning of one turn to that of the next.
  static var interval: Duration { turn * 10 }
  /// The least time between the end of a dial or a handshake and a turn: usually the next use is about to begin.
  static var settling: Duration { .milliseconds(300) }

  private struct Member: Sendable {
    var use = RadioUse()
    var searches = false
  }

  private var members: [User: Member] = [:]
  private var total = RadioUse()
  /// The time left of the turn, and its start; nil: it is not running.
  private var left = Duration.zero
  private var turnSince: Instant?
  private var nextTurn: Instant?
  /// The time since which the radio has been in use without a break; nil: the radio is free.
  private var busySince: Instant?

  var isEmpty: Bool { members.isEmpty }

  mutating func add(_ user: User) { members[user] = Member() }

  /// Removes a user, whose uses have ended.
  mutating func remove(_ user: User, at now: Instant) {
    guard let use = members.removeValue(forKey: user)?.use else { return }
    for _ in 0..<use.ownUses { total.ended(at: now) }
    for _ in 0..<use.acceptedUses { total.acceptedEnded(at: now) }
    settle(at: now)
  }

  /// Notes that our dial, or its handshake, has begun.
  mutating func began(_ user: User, at now: Instant) { change(user, at: now) { $0.began() } }

  mutating func ended(_ user: User, at now: Instant) { change(user, at: now) { $0.ended(at: now) } }

  /// Notes that an accepted link's handshake has begun.
  mutating func acceptedBegan(_ user: User, at now: Instant) { change(user, at: now) { $0.acceptedBegan(at: now) } }

  mutating func acceptedEnded(_ user: User, at now: Instant) { change(user, at: now) { $0.acceptedEnded(at: now) } }

  /// Changes the uses of a user. Those of a removed user have ended already, and do not count twice.
  private mutating func change(_ user: User, at now: Instant, _ change: (inout RadioUse) -> Void) {
    guard var member = members[user] else { return }
    if !total.isBusy(at: now) { busySince = nil }
    change(&member.use)
    members[user] = member
    change(&total)
    settle(at: now)
  }

  /// Notes that a link's unsent bytes wait for room, and something has moved there (`RadioUse.waited`).
  /// - Returns: whether some node's access may have changed.
  mutating func waited(_ user: User, at now: Instant) -> Bool { use(by: user, at: now) { $0.waited(at: now) } }

  /// - Returns: whether some node's access may have changed. A short message changes nothing.
  mutating func moved(_ count: Int, by user: User, at now: Instant) -> Bool {
    use(by: user, at: now) { $0.moved(count, at: now) }
  }

  private mutating func use(by user: User, at now: Instant, _ change: (inout RadioUse) -> Void) -> Bool {
    guard var member = members[user] else { return false }
    let former = (member.use.isSending(at: now), total.isSending(at: now))
    if !total.isBusy(at: now) { busySince = nil }
    change(&member.use)
    change(&total)
    members[user] = member
    if former == (member.use.isSending(at: now), total.isSending(at: now)) { return false }
    settle(at: now)
    return true
  }

  mutating func searches(_ user: User, _ isSearching: Bool, at now: Instant) {
    guard var member = members[user] else { return }
    member.searches = isSearching
    members[user] = member
    settle(at: now)
  }

  /// Notes that time has passed. Call it at `nextDeadline`, and before `access`.
  mutating func settle(at now: Instant) {
    if let since = turnSince { left = max(.zero, left - (now - since)) }
    turnSince = nil
    busySince = total.isBusy(at: now) ? busySince ?? now : nil
    guard hasTurns(at: now) else { return }
    if nextTurn.map({ $0 <= now }) ?? true {
      left = Self.turn
      nextTurn = now + Self.interval
    }
    if left > .zero { turnSince = now }
  }

  /// Returns whether some node would scan if it had a turn.
  private func hasTurns(at now: Instant) -> Bool {
    guard !total.isOpen(at: now), total.isBusy(at: now), settledAt.map({ $0 <= now }) ?? true else { return false }
    return members.values.contains { mayTakeTurn($0, at: now) }
  }

  private func mayTakeTurn(_ member: Member, at now: Instant) -> Bool {
    guard member.searches else { return false }
    if !member.use.isBusy(at: now) { return true }
    return !member.use.isSending(at: now) && turnOfDialler.map { $0 <= now } ?? false
  }

  /// When nodes that dial may have turns, too.
  private var turnOfDialler: Instant? { busySince.map { $0 + Self.interval } }

  private var settledAt: Instant? { total.lastOpenUse.map { $0 + Self.settling } }

  func access(of user: User, at now: Instant) -> RadioAccess {
    guard total.isBusy(at: now) else { return .free }
    guard turnSince != nil, let member = members[user], mayTakeTurn(member, at: now) else { return .busy }
    return .turn
  }

  /// Returns when some node's access will change if nothing happens until then; nil: never.
  func nextDeadline(at now: Instant) -> Instant? {
    guard total.isBusy(at: now) else { return nil }
    if total.isOpen(at: now) { return total.nextDeadline(at: now) }
    var deadlines = [total.nextDeadline(at: now), turnSince.map { $0 + left }]
    let searching = members.values.filter(\.searches)
    if !searching.isEmpty { deadlines.append(turnOfDialler) }
    if !searching.isEmpty, turnSince == nil { deadlines += [settledAt, nextTurn] }
    deadlines += searching.flatMap { [$0.use.nextDeadline(at: now), $0.use.sendingEnd] }
    return deadlines.compactMap { $0 }.filter { $0 > now }.min()
  }
}
