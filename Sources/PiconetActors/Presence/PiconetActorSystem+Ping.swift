import Piconet
import PiconetCalls

extension PiconetActorSystem {
  /// Pings a member's actor system.
  /// - Parameters:
  ///   - member: the member to ping.
  ///   - time: how long to wait. Default 5 s.
  /// - Returns: how long the answer took.
  /// - Throws: see `ping(_:within:)` for other targets.
  @discardableResult
  public func ping(_ member: Member, within time: Duration = .seconds(5)) async throws(RemoteCallError) -> Duration {
    try await ping(.node(member.id), within: time)
  }

  /// Pings a node, an object, or the owner of a name. The other side's policy is asked as for any call: for an object's
  /// ping with its path and the interface `piconet.object`.
  ///
  /// Nothing is sent for targets of this node itself: an object is present while it is published.
  /// - Parameters:
  ///   - target: what to ping.
  ///   - time: how long to wait: 1 ms to a day; other values are cut to these. Default 5 s.
  /// - Returns: how long the answer took.
  /// - Throws: `timedOut`; `noSuchObject`; `noOwner` for a name without an owner; otherwise as every call.
  @discardableResult
  public func ping(_ target: PingTarget, within time: Duration = .seconds(5)) async throws(RemoteCallError) -> Duration
  {
    let (node, path) = try place(of: target)
    guard CallLimits.isPath(path) else { throw RemoteCallError(.invalidArgument, detail: "'\(path)' is no path") }
    let start = ContinuousClock.now
    if node == self.node.id {
      guard objects.isPublished(path) else {
        throw RemoteCallError(.noSuchObject, node: node, detail: "there is no object at \(path)")
      }
    } else {
      _ = try await conversation(with: node).call(
        path: path, interface: path == "/" ? nodeInterface.name : objectInterface.name, version: 1, method: "ping",
        within: max(.milliseconds(1), min(time, .milliseconds(Int64(CallLimits.milliseconds)))),
        arguments: CBORWriter(), count: 0)
    }
    return start.duration(to: .now)
  }

  /// - Throws: `noOwner`.
  private func place(of target: PingTarget) throws(RemoteCallError) -> (NodeID, String) {
    switch target {
    case .node(let id): return (id, "/")
    case .object(let id): return (id.node, id.path)
    case .owner(let name, let path):
      guard let owner = owner(of: name) else { throw .noOwner(of: name) }
      return (owner, path)
    }
  }
}

extension RemoteCallError {
  static func noOwner(of name: String) -> RemoteCallError {
    RemoteCallError(.noOwner, detail: "no member of the session has the name '\(name)'")
  }
}
