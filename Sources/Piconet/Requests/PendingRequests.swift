import PiconetEngine

/// Requests that the loop has not answered yet. Part of the node's state, under its lock.
struct PendingRequests: Sendable {
  struct Pending: Sendable {
    var replied: @Sendable (Reply) -> Void
    var failed: @Sendable (Ending) -> Void
    var inviting: Inviting?
  }

  private var pending: [CommandID: Pending] = [:]

  mutating func add(_ id: CommandID, _ request: Pending) { pending[id] = request }

  mutating func take(_ id: CommandID) -> Pending? { pending.removeValue(forKey: id) }

  /// Returns the callbacks for the progress of this invitation.
  func inviting(_ id: CommandID) -> Inviting? { pending[id]?.inviting }

  mutating func takeAll() -> [Pending] {
    defer { pending = [:] }
    return Array(pending.values)
  }
}
