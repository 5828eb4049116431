/// The owners of the names of a session, as one node sees them. A node computes each owner from its own claims and
/// those of its members by one rule: nodes that know the same claims name the same owner, in whatever order the claims
/// have come in.
///
/// The rule: a node that holds the name owns it. If none does, claims count in the order of their times, and of their
/// nodes if times are equal: the first owns the name. A claim that replaces takes it from an earlier owner that allows
/// that; this owner then waits behind it if it queues. Any other claim waits if it queues, or has no effect: its node
/// then releases it.
///
/// A node holds a name once all members have heard of its claim (`NameDesk`): whatever time another one states from
/// then on, it comes too late. Of two that hold it, as when parts of a group meet, one gives way; until then each node
/// keeps to the one of which it has heard first.
public struct NameClaims<Node: Hashable & Comparable & Sendable>: Sendable {
  /// What has changed.
  public enum Change: Hashable, Sendable {
    /// Nil: the name is free.
    case owner(of: String, from: Node?, to: Node?)
  }

  /// The standing of one node's claim to a name.
  public enum Standing: Hashable, Sendable {
    case owner
    /// This many nodes are before it.
    case queued(Int)
    /// It has no claim, or one without effect.
    case none
  }

  private struct Entry: Sendable {
    var claim: NameClaim
    /// The node had heard of our claim, but still states an earlier time.
    var isLate: Bool

    var holds: Bool { claim.options.contains(.holds) && !isLate }
  }

  private var claims: [String: [Node: Entry]] = [:]
  private var owners: [String: Node] = [:]
  /// The first known holder of each name that is held.
  private var holders: [String: Node] = [:]
  private var time: UInt64 = 0

  /// The number of names that one node may claim at once.
  public static var limit: Int { 64 }

  public init() {}

  /// Returns a time above that of every known claim.
  public mutating func nextTime() -> UInt64 {
    if time < .max { time += 1 }
    return time
  }

  public func owner(of name: String) -> Node? { owners[name] }

  /// All names that have an owner.
  public var all: [String: Node] { owners }

  /// Returns how many names a node claims.
  public func count(of node: Node) -> Int { claims.values.count { $0[node] != nil } }

  public func claims(of node: Node) -> [NameClaim] {
    claims.values.compactMap { $0[node]?.claim }.sorted { $0.name < $1.name }
  }

  public func claim(of node: Node, to name: String) -> NameClaim? { claims[name]?[node]?.claim }

  public func standing(of node: Node, for name: String) -> Standing {
    let queue = queue(of: name)
    guard let place = queue.firstIndex(of: node) else { return .none }
    return place == 0 ? .owner : .queued(place)
  }

  /// Returns whether, of two that hold the name, this one gives way.
  public func givesWay(_ node: Node, for name: String) -> Bool {
    guard let all = claims[name], let own = all[node], own.holds else { return false }
    return all.contains { other, entry in
      other != node && entry.holds && Self.isBefore((other, entry), (node, own)) && !Self.replaces(own, entry)
    }
  }

  /// Takes a node's claim to a name, or its claim with other options. Beyond the limit it has no effect.
  /// - Parameter isLate: whether the node may no longer choose the time that it states.
  public mutating func claim(_ claim: NameClaim, by node: Node, isLate: Bool = false) -> [Change] {
    // A time of the far future would come after every other time.
    let latest = time.addingReportingOverflow(1 << 32)
    time = max(time, min(claim.time, latest.overflow ? .max : latest.partialValue))
    guard claims[claim.name]?[node] != nil || count(of: node) < Self.limit else { return [] }
    claims[claim.name, default: [:]][node] = Entry(claim: claim, isLate: isLate)
    return update(claim.name)
  }

  /// Removes a node's claim to the name.
  public mutating func release(_ name: String, by node: Node) -> [Change] {
    // A name without claims has no claim of this node.
    guard var left = claims[name], left.removeValue(forKey: node) != nil else { return [] }
    claims[name] = left.isEmpty ? nil : left
    return update(name)
  }

  /// Lets claims that have come too late count by their times again: the node that knew that they were late no longer
  /// holds the name.
  public mutating func forgive(_ name: String) -> [Change] {
    guard let all = claims[name], all.values.contains(where: \.isLate) else { return [] }
    claims[name] = all.mapValues { Entry(claim: $0.claim, isLate: false) }
    return update(name)
  }

  /// Removes a node that has left, with all its claims.
  public mutating func left(_ node: Node) -> [Change] {
    claims.keys.filter { claims[$0]?[node] != nil }.sorted().flatMap { release($0, by: node) }
  }

  private mutating func update(_ name: String) -> [Change] {
    let all = claims[name, default: [:]]
    let isHeld = holders[name].flatMap { all[$0] }?.holds ?? false
    if !isHeld {
      holders[name] = all.filter(\.value.holds).min { Self.isBefore(($0.key, $0.value), ($1.key, $1.value)) }?.key
    }
    let former = owners[name]
    let owner = queue(of: name).first
    guard owner != former else { return [] }
    owners[name] = owner
    return [.owner(of: name, from: former, to: owner)]
  }

  private static func isBefore(_ one: (node: Node, entry: Entry), _ other: (node: Node, entry: Entry)) -> Bool {
    if one.entry.isLate != other.entry.isLate { return other.entry.isLate }
    return (one.entry.claim.time, one.node) < (other.entry.claim.time, other.node)
  }

  private static func replaces(_ new: Entry, _ owner: Entry) -> Bool {
    owner.claim.options.contains(.allowsReplacement) && new.claim.options.contains(.replaces)
  }

  /// Returns the owner, and the nodes that wait, in their order.
  private func queue(of name: String) -> [Node] {
    let holder = holders[name]
    let inOrder = claims[name, default: [:]].sorted { one, other in
      if one.key == holder || other.key == holder { return one.key == holder && other.key != holder }
      return Self.isBefore((one.key, one.value), (other.key, other.value))
    }
    var queue: [(node: Node, entry: Entry)] = []
    for (node, entry) in inOrder {
      if let owner = queue.first, Self.replaces(entry, owner.entry), Self.isBefore(owner, (node, entry)) {
        if !owner.entry.claim.options.contains(.queues) { queue.removeFirst() }
        queue.insert((node, entry), at: 0)
      } else if queue.isEmpty || entry.claim.options.contains(.queues) {
        queue.append((node, entry))
      }
    }
    return queue.map(\.node)
  }
}
