/// Which node of a session has which name. Every node keeps the claims of itself and of its members, and works out the
/// owner from them by one rule, so that nodes that know the same claims name the same owner, whatever order they have
/// come in: with two claims at once, and when parts of a group find one another again.
///
/// The rule: claims count in the order of their times, and of nodes where times are equal. The first has the name. One
/// that replaces takes it from an owner that allows that, who then waits behind it if it queues; any other waits if it
/// queues, or has no effect: its node then releases it.
public struct NameClaims<Node: Hashable & Comparable & Sendable>: Sendable {
  /// What has changed.
  public enum Change: Hashable, Sendable {
    /// Nil: it is free.
    case owner(of: String, from: Node?, to: Node?)
  }

  /// How one node stands with a name.
  public enum Standing: Hashable, Sendable {
    case owner
    /// This many are before it.
    case queued(Int)
    /// It has no claim, or one that has no effect.
    case none
  }

  private var claims: [String: [Node: NameClaim]] = [:]
  private var owners: [String: Node] = [:]
  private var time: UInt64 = 0

  /// Names that one node may claim at once.
  public static var limit: Int { 64 }

  public init() {}

  /// A time above that of every claim that is known.
  public mutating func nextTime() -> UInt64 {
    if time < .max { time += 1 }
    return time
  }

  public func owner(of name: String) -> Node? { owners[name] }

  /// All names that have an owner.
  public var all: [String: Node] { owners }

  /// How many names a node claims.
  public func count(of node: Node) -> Int { claims.values.count { $0[node] != nil } }

  public func claims(of node: Node) -> [NameClaim] {
    claims.values.compactMap { $0[node] }.sorted { $0.name < $1.name }
  }

  public func standing(of node: Node, for name: String) -> Standing {
    let queue = queue(of: name)
    guard let place = queue.firstIndex(of: node) else { return .none }
    return place == 0 ? .owner : .queued(place)
  }

  /// A node claims a name, or claims it again with other options. Beyond the limit it has no effect.
  public mutating func claim(_ claim: NameClaim, by node: Node) -> [Change] {
    // A time of the far future would be everybody's last.
    let latest = time.addingReportingOverflow(1 << 32)
    time = max(time, min(claim.time, latest.overflow ? .max : latest.partialValue))
    guard claims[claim.name]?[node] != nil || count(of: node) < Self.limit else { return [] }
    claims[claim.name, default: [:]][node] = claim
    return update(claim.name)
  }

  /// A node does not claim the name any more.
  public mutating func release(_ name: String, by node: Node) -> [Change] {
    claims[name]?[node] = nil
    if claims[name]?.isEmpty == true { claims[name] = nil }
    return update(name)
  }

  /// A node has left, with all its claims.
  public mutating func left(_ node: Node) -> [Change] {
    claims.keys.filter { claims[$0]?[node] != nil }.sorted().flatMap { release($0, by: node) }
  }

  private mutating func update(_ name: String) -> [Change] {
    let former = owners[name]
    let owner = queue(of: name).first
    guard owner != former else { return [] }
    owners[name] = owner
    return [.owner(of: name, from: former, to: owner)]
  }

  /// The owner, and those who wait, in their order.
  private func queue(of name: String) -> [Node] {
    let inOrder = claims[name, default: [:]].sorted { ($0.value.time, $0.key) < ($1.value.time, $1.key) }
    var queue: [(node: Node, options: NameClaim.Options)] = []
    for (node, claim) in inOrder {
      if let owner = queue.first, owner.options.contains(.allowsReplacement), claim.options.contains(.replaces) {
        if !owner.options.contains(.queues) { queue.removeFirst() }
        queue.insert((node, claim.options), at: 0)
      } else if queue.isEmpty || claim.options.contains(.queues) {
        queue.append((node, claim.options))
      }
    }
    return queue.map(\.node)
  }
}
