import PiconetRuntime
import PiconetWire

/// The parts shared by the nodes of one process: the identity, the threads, the known peers, the sockets of mDNS, and
/// one plan for the radio.
///
/// A program in one session doesn't need one: `Node.run` makes its own host, which ends with the node. A program in
/// several sessions makes its nodes on one host. Each node has its own session, name and availability. Others see them
/// as nodes of one device: their ids have the same `peer` and different incarnations. Nodes of a host that have the
/// same session id see and invite each other as they do others.
///
/// ```swift
/// try await NodeHost.run { host in
///   let chess = try await host.node(NodeConfiguration(sessionID: "chess", name: "Anna's laptop"))
///   let photos = try await host.node(NodeConfiguration(sessionID: "photos", name: "Anna's laptop"))
///   ...
/// }
/// ```
///
/// Any task may use a host. Its nodes keep it alive: a host that is dropped without `stop` ends with its last node.
public final class NodeHost: Sendable {
  private let shell: HostShell

  /// Starts a host, hands it to `body`, and stops it, with all its nodes, when `body` returns or throws.
  public static func run<Value>(
    _ configuration: NodeHostConfiguration = NodeHostConfiguration(), isolation: isolated (any Actor)? = #isolation,
    _ body: (NodeHost) async throws -> Value
  ) async throws -> Value {
    try await NodeHost(configuration).serve(isolation: isolation, body)
  }

  /// See above; for a `body` that throws nothing but `PiconetError`: written as `{ host throws(PiconetError) in ... }`.
  public static func run<Value>(
    _ configuration: NodeHostConfiguration = NodeHostConfiguration(), isolation: isolated (any Actor)? = #isolation,
    _ body: (NodeHost) async throws(PiconetError) -> Value
  ) async throws(PiconetError) -> Value {
    try await NodeHost(configuration).serve(isolation: isolation, body)
  }

  private func serve<Value, Failure: Error>(
    isolation: isolated (any Actor)?, _ body: (NodeHost) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    do throws(Failure) {
      let value = try await body(self)
      await stop()
      return value
    } catch {
      await stop()
      throw error
    }
  }

  /// Starts a host without nodes.
  /// - Throws: `invalidArgument` naming the broken rule, `state` if the identity can't be read or made,
  ///   `internalError`.
  public init(_ configuration: NodeHostConfiguration = NodeHostConfiguration()) async throws(PiconetError) {
    shell = try await HostShell.start(configuration)
  }

  deinit { shell.beginLettingGo() }

  /// The fingerprint of this device's key, which all its nodes share.
  public var fingerprint: PeerID { shell.identity.peer }

  /// Starts a node that is not available yet. The node takes settings of the device that its configuration leaves out
  /// from the host.
  /// - Throws: see `Node.init`; `invalidArgument` also if the node's identity, authorities, interfaces or Bluetooth
  ///   settings differ from the host's; `shuttingDown` once the host is stopping.
  public func node(_ configuration: NodeConfiguration) async throws(PiconetError) -> Node {
    try await Node(configuration, on: shell)
  }

  /// Starts a node, hands it to `body`, and stops it when `body` returns or throws. The node leaves its members in good
  /// order.
  /// - Throws: see `node(_:)`; also what `body` throws.
  public func run<Value>(
    _ configuration: NodeConfiguration, isolation: isolated (any Actor)? = #isolation,
    _ body: (Node) async throws -> Value
  ) async throws -> Value {
    try await node(configuration).serve(isolation: isolation, body)
  }

  /// See above; for a `body` that throws nothing but `PiconetError`.
  public func run<Value>(
    _ configuration: NodeConfiguration, isolation: isolated (any Actor)? = #isolation,
    _ body: (Node) async throws(PiconetError) -> Value
  ) async throws(PiconetError) -> Value {
    try await node(configuration).serve(isolation: isolation, body)
  }

  /// Stops all nodes at once, as `Node.stop` does, and then the host. Idempotent; a second call waits for the first.
  public func stop() async { await shell.stop() }
}
