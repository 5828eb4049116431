/// The names of a session as one node keeps them: its own claims, the members that have heard of them, and the claims
/// of its members.
///
/// Facts go in, effects come out, in order. Frames between two members keep their order, so that a member that has
/// heard of a claim had told its own before.
public struct NameDesk<Node: Hashable & Comparable & Sendable>: Sendable {
  /// Something to be done.
  public enum Effect: Hashable, Sendable {
    case tell(CallFrame, Node)
    case changed(NameClaims<Node>.Change)
    /// All members have heard of the claim with this number.
    case heard(UInt64)
    /// A member does not let this node own the name.
    case refused(name: String, by: Node)
  }

  /// A claim of this node of which members have not heard yet.
  private struct Wait: Sendable {
    let name: String
    let time: UInt64
    var members: Set<Node>
  }

  /// A member has heard of a claim of this node.
  private struct Hearing: Sendable {
    /// The time of its own claim to the name then; nil: it had none.
    let time: UInt64?
    let instance: UInt64
    /// Whether it has not said so, but had the time.
    let isAssumed: Bool
    /// Whether it has left since.
    var isAway = false
  }

  private let own: Node
  private var claims = NameClaims<Node>()
  /// Members that have an actor system, with its instance.
  private var members: [Node: UInt64] = [:]
  /// Members of the session that have not greeted yet.
  private var expected: Set<Node> = []
  /// The times of claims that were unsettled at the last `losePatience`.
  private var unsettled: [String: UInt64] = [:]
  /// Members that no link reaches at present.
  private var suspended: Set<Node> = []
  private var waits: [UInt64: Wait] = [:]
  private var hearings: [String: [Node: Hearing]] = [:]
  /// Claims of members that may not own the name.
  private var refused: [Node: [String: NameClaim]] = [:]

  /// The number of nodes that are remembered as having heard of one claim.
  static var hearingLimit: Int { 256 }

  public init(of own: Node) { self.own = own }

  public func owner(of name: String) -> Node? { claims.owner(of: name) }

  /// Returns the standing of this node's claim to a name.
  public func standing(for name: String) -> NameClaims<Node>.Standing { claims.standing(of: own, for: name) }

  /// All names that have an owner.
  public var all: [String: Node] { claims.all }

  /// Returns whether this node owns the name, so that the claims of others come too late.
  public func holds(_ name: String) -> Bool {
    claims.claim(of: own, to: name)?.options.contains(.holds) == true && standing(for: name) == .owner
  }

  /// Returns whether some members have not yet heard of the claim with this number.
  public func isWaiting(_ number: UInt64) -> Bool { waits[number] != nil }

  /// Whether this node owns a name of which some members may not have heard.
  public var isUnsettled: Bool { !unsettledClaims.isEmpty }

  private var unsettledClaims: [NameClaim] {
    claims.claims(of: own).filter { !$0.options.contains(.holds) && standing(for: $0.name) == .owner }
  }

  // MARK: This node's claims

  /// Claims a name. If this node owns it already, it keeps it, with these options.
  /// - Parameter number: the number of this claim; not used before.
  /// - Returns: nil: this node has as many as it may.
  public mutating func claim(_ name: String, _ options: NameClaim.Options, _ number: UInt64) -> [Effect]? {
    let former = claims.claim(of: own, to: name)
    guard former != nil || claims.count(of: own) < NameClaims<Node>.limit else { return nil }
    var claim = NameClaim(name, time: 0, options.subtracting(.holds))
    if let former, standing(for: name) == .owner {
      claim.time = former.time
      claim.options.formUnion(former.options.intersection(.holds))
    } else {
      claim.time = claims.nextTime()
      hearings[name] = nil
    }
    if members.isEmpty {
      return put(claim) + [.heard(number)] + settle()
    }
    waits[number] = Wait(name: name, time: claim.time, members: Set(members.keys))
    return put(claim) + settle()
  }

  /// Notes that a while has passed. All members with a link are taken to have heard of a claim that was unsettled a
  /// while ago. Members that have not greeted are taken to have no actor system.
  public mutating func losePatience() -> [Effect] {
    var effects: [Effect] = []
    let former = unsettled
    unsettled = [:]
    for claim in unsettledClaims {
      unsettled[claim.name] = claim.time
      guard former[claim.name] == claim.time else { continue }
      expected.formIntersection(suspended)
      for node in members.keys.sorted() where !suspended.contains(node) {
        effects += heard(claim.name, claim.time, by: node, isAssumed: true)
      }
    }
    return effects + settle()
  }

  /// Ends a claim. No effect if the name is not claimed.
  public mutating func release(_ name: String) -> [Effect] {
    claims.claim(of: own, to: name) == nil ? [] : withdraw(name) + settle()
  }

  private mutating func put(_ claim: NameClaim) -> [Effect] {
    tell(.claim(claim)) + claims.claim(claim, by: own).map(Effect.changed)
  }

  private mutating func withdraw(_ name: String) -> [Effect] {
    hearings[name] = nil
    // Tasks that wait for this claim no longer wait.
    let ended = waits.filter { $0.value.name == name }.keys.sorted()
    for number in ended { waits[number] = nil }
    let changes = claims.release(name, by: own) + claims.forgive(name)
    return tell(.release(name: name)) + changes.map(Effect.changed) + ended.map(Effect.heard)
  }

  private func tell(_ frame: CallFrame) -> [Effect] { members.keys.sorted().map { .tell(frame, $0) } }

  /// Updates this node's claims: a claim without effect is released, and a claim holds the name while this node owns it
  /// and all members have heard of the claim.
  private mutating func settle() -> [Effect] {
    var effects: [Effect] = []
    for var claim in claims.claims(of: own) {
      let holds = claim.options.contains(.holds)
      let mayHold =
        standing(for: claim.name) == .owner && !claims.givesWay(own, for: claim.name)
        && (holds || areAllAware(of: claim.name))
      if holds != mayHold {
        claim.options.formSymmetricDifference(.holds)
        effects += put(claim)
        if holds { effects += claims.forgive(claim.name).map(Effect.changed) }
      }
      if standing(for: claim.name) == .none { effects += withdraw(claim.name) }
    }
    return effects
  }

  /// Returns whether no member can have a claim that was made without knowing of this node's.
  private func areAllAware(of name: String) -> Bool {
    let known = hearings[name, default: [:]]
    return expected.isEmpty && members.keys.allSatisfy { known[$0] != nil }
  }

  // MARK: Members

  /// Notes that a member has come. Its greeting shows whether it has an actor system.
  public mutating func joined(_ node: Node) {
    if members[node] == nil { expected.insert(node) }
  }

  /// Notes that a member has an actor system, a different one than before.
  public mutating func greeted(_ node: Node, instance: UInt64) -> [Effect] {
    let effects = forget(node)
    expected.remove(node)
    members[node] = instance
    for (name, known) in hearings {
      guard var hearing = known[node], hearing.isAway else { continue }
      hearing.isAway = false
      // A member that was away and has restarted may no longer know which claims it had heard of.
      hearings[name, default: [:]][node] = hearing.instance == instance ? hearing : nil
    }
    return effects + claims.claims(of: own).map { .tell(.claim($0), node) } + settle()
  }

  /// Notes that a member no longer has an actor system.
  /// - Parameter isGone: whether it is no longer a member either.
  public mutating func ended(_ node: Node, isGone: Bool) -> [Effect] {
    if isGone {
      suspended.remove(node)
      expected.remove(node)
      for (name, known) in hearings {
        guard var hearing = known[node] else { continue }
        hearing.isAway = true
        hearings[name, default: [:]][node] = hearing.isAssumed ? nil : hearing
      }
    }
    return forget(node) + settle()
  }

  /// Notes whether a link leads to a member.
  public mutating func setSuspended(_ node: Node, _ isSuspended: Bool) {
    if isSuspended { suspended.insert(node) } else { suspended.remove(node) }
  }

  private mutating func forget(_ node: Node) -> [Effect] {
    members[node] = nil
    refused[node] = nil
    return claims.left(node).map(Effect.changed) + endWaits { _ in node }
  }

  /// Takes a member's frame about names; other frames are ignored.
  /// - Parameter isAllowed: whether it may own the name that it claims.
  public mutating func received(_ frame: CallFrame, from node: Node, isAllowed: Bool = true) -> [Effect] {
    guard members[node] != nil else { return [] }
    switch frame {
    case .claim(let claim):
      // Sent after our own claims that it did not know.
      let answer = Effect.tell(.heard(name: claim.name, time: claim.time), node)
      if isAllowed {
        refused[node, default: [:]][claim.name] = nil
        return [answer] + take(claim, by: node) + settle()
      }
      let isKnown = refused[node]?[claim.name] != nil
      if isKnown || refused[node]?.count ?? 0 < NameClaims<Node>.limit {
        refused[node, default: [:]][claim.name] = claim
      }
      let refusal = Effect.tell(.refused(name: claim.name, time: claim.time), node)
      return [answer, refusal] + claims.release(claim.name, by: node).map(Effect.changed) + settle()
    case .release(let name):
      refused[node, default: [:]][name] = nil
      return claims.release(name, by: node).map(Effect.changed) + settle()
    case .heard(let name, let time): return heard(name, time, by: node) + settle()
    case .refused(let name, let time):
      return claims.claim(of: own, to: name)?.time == time ? [.refused(name: name, by: node)] : []
    case .hello, .goodbye, .call, .result, .failure, .cancel, .begin, .next, .signal, .unknown: return []
    }
  }

  /// Returns the names that a member claims, whether it may own them or not.
  public func names(claimedBy node: Node) -> [String] {
    claims.claims(of: node).map(\.name) + refused[node, default: [:]].keys.sorted()
  }

  /// Applies new answers about the names that a member claims. Names without an answer stay as they are.
  public mutating func reconsider(_ node: Node, _ answers: [String: Bool]) -> [Effect] {
    guard node != own else { return [] }
    var effects: [Effect] = []
    for (name, claim) in refused[node, default: [:]].sorted(by: { $0.key < $1.key }) where answers[name] == true {
      refused[node, default: [:]][name] = nil
      effects += take(claim, by: node)
    }
    for claim in claims.claims(of: node) where answers[claim.name] == false {
      refused[node, default: [:]][claim.name] = claim
      effects += claims.release(claim.name, by: node).map(Effect.changed)
      effects.append(.tell(.refused(name: claim.name, time: claim.time), node))
    }
    return effects + settle()
  }

  private mutating func take(_ claim: NameClaim, by node: Node) -> [Effect] {
    claims.claim(claim, by: node, isLate: isLate(claim, by: node)).map(Effect.changed)
  }

  /// Returns whether the claim's node knew of our claim, which holds the name, and still states an earlier time: any
  /// node chooses a time above all that it knows.
  private func isLate(_ claim: NameClaim, by node: Node) -> Bool {
    guard let ours = claims.claim(of: own, to: claim.name), ours.options.contains(.holds),
      let hearing = hearings[claim.name]?[node]
    else { return false }
    return claim.time <= ours.time && claim.time != hearing.time
  }

  /// - Parameter isAssumed: whether it has not said so.
  private mutating func heard(
    _ name: String, _ time: UInt64, by node: Node, isAssumed: Bool = false
  ) -> [Effect] {
    if claims.claim(of: own, to: name)?.time == time, let instance = members[node] {
      var known = hearings[name, default: [:]]
      if let former = known[node] {
        // Its claims since it was assumed to have heard came too late, as far as is known here.
        known[node] = Hearing(
          time: former.time, instance: former.instance, isAssumed: former.isAssumed && isAssumed)
      } else {
        if known.count >= Self.hearingLimit { known = known.filter { members[$0.key] != nil } }
        let theirs = claims.claim(of: node, to: name) ?? refused[node]?[name]
        known[node] = Hearing(time: theirs?.time, instance: instance, isAssumed: isAssumed)
      }
      hearings[name] = known
    }
    return endWaits { $0.name == name && $0.time == time ? node : nil }
  }

  /// - Parameter member: returns the member for which a claim no longer waits; nil: it still waits.
  private mutating func endWaits(_ member: (Wait) -> Node?) -> [Effect] {
    var effects: [Effect] = []
    for (number, var wait) in waits.sorted(by: { $0.key < $1.key }) {
      guard let node = member(wait) else { continue }
      wait.members.remove(node)
      waits[number] = wait.members.isEmpty ? nil : wait
      if wait.members.isEmpty { effects.append(.heard(number)) }
    }
    return effects
  }
}
