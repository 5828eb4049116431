import Glibc
import PiconetEngine
import PiconetIP
import PiconetRuntime

/// Serves an adapter of this machine to tests on another machine: each connection stands for one node's transports and
/// discovery, which are made for it and end with it, however it ends. Confined to the loop.
public final class AdapterAgent {
  /// The most nodes at a time; further ones are refused.
  public static let limit = 16

  private let loop: EventLoop
  private let make: AdapterParts.Making
  private let log: (String) -> Void
  private var listener: TCPListener?
  private var sessions: [ObjectIdentifier: AgentSession] = [:]
  private var whenEmpty: (() -> Void)?

  /// - Parameters:
  ///   - listener: a socket of `ControlSocket.listen`, which it takes over.
  ///   - log: called with lines to show, which may contain what others have sent.
  public init(
    loop: EventLoop, listener: Int32, log: @escaping (String) -> Void = { _ in }, make: @escaping AdapterParts.Making
  ) throws(LinkFailure) {
    self.loop = loop
    self.log = log
    self.make = make
    self.listener = try TCPListener(socket: listener, loop: loop, configuration: TCPConfiguration()) { [weak self] in
      if let self { serve($0) } else { Glibc.close($0) }
    }
  }

  /// How many nodes are served.
  public var sessionCount: Int { sessions.count }

  private func serve(_ descriptor: Int32) {
    guard sessions.count < Self.limit else {
      log("a connection was refused: \(Self.limit) are served")
      Glibc.close(descriptor)
      return
    }
    let session = AgentSession(loop: loop, make: make) { [weak self] session, reason in
      guard let self else { return }
      sessions[ObjectIdentifier(session)] = nil
      if let reason { log("a connection has ended: \(reason)") }
      if sessions.isEmpty { whenEmpty?() }
    }
    sessions[ObjectIdentifier(session)] = session
    session.start(descriptor)
  }

  /// Stops listening, ends all nodes, and calls `completion` on the loop when everything is restored.
  public func shutDown(_ completion: @escaping () -> Void) {
    listener?.close()
    listener = nil
    whenEmpty = { [self] in
      whenEmpty = nil
      completion()
    }
    for session in Array(sessions.values) { session.end("the agent was told to end") }
    if sessions.isEmpty { whenEmpty?() }
  }
}
