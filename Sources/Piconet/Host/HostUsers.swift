/// The users that keep a host alive: the code that started it, until it lets go; its nodes; and nodes that are being
/// made.
struct HostUsers<ID: Hashable, Node> {
  private(set) var isHeld = true
  private var isStopping = false
  private var beginning = 0
  private var nodes: [ID: Node] = [:]

  private var isUnused: Bool { !isHeld && beginning == 0 && nodes.isEmpty }

  /// Counts a node that is being made.
  /// - Returns: false if no more nodes may be made.
  mutating func begin() -> Bool {
    guard !isStopping, !isUnused else { return false }
    beginning += 1
    return true
  }

  /// Adds a node that has been made; it stays until it is removed.
  /// - Returns: false if the host has begun to stop meanwhile.
  mutating func add(_ node: Node, as id: ID) -> Bool {
    beginning -= 1
    nodes[id] = node
    return !isStopping
  }

  /// Stops counting a node that could not be made.
  /// - Returns: whether the last user has gone. True only once; the same holds for the next two functions.
  mutating func failed() -> Bool {
    beginning -= 1
    return isUnused
  }

  mutating func remove(_ id: ID) -> Bool { nodes.removeValue(forKey: id) != nil && isUnused }

  mutating func letGo() -> Bool {
    guard isHeld else { return false }
    isHeld = false
    return isUnused
  }

  /// Refuses to make further nodes from now on.
  /// - Returns: the nodes that exist.
  mutating func beginStopping() -> [Node] {
    isStopping = true
    return Array(nodes.values)
  }
}
