import Foundation
import Piconet
import Synchronization
import TestSupport
import Testing

/// Two nodes of one process that see only each other, over `lo`.
struct Players {
  let server: Node
  let client: Node

  /// Settings that let a node meet only those of the same session, over `lo`.
  static func keep(_ configuration: NodeConfiguration, session: String, _ mode: SessionMode) -> NodeConfiguration {
    var configuration = configuration
    configuration.sessionID = session
    configuration.mode = mode
    configuration.interfaces = ["lo"]
    configuration.listen = "127.0.0.1:0"
    return configuration
  }

  static func run(
    _ server: NodeConfiguration = NodeConfiguration(sessionID: "", name: "Server"),
    _ client: NodeConfiguration = NodeConfiguration(sessionID: "", name: "Client"),
    session: String = UUID().uuidString, _ body: (Players) async throws -> Void
  ) async throws {
    try await Node.run(keep(server, session: session, .server)) { server in
      try await server.setAvailable(true)
      try await Node.run(keep(client, session: session, .client)) { client in
        try await client.setAvailable(true)
        try await body(Players(server: server, client: client))
      }
    }
  }

  /// The server as the client sees it.
  func serverInSight() async throws -> Peer {
    for await peers in client.peers {
      if let peer = peers.first { return peer }
    }
    throw PiconetError(.unreachable, blame: .us)
  }

  /// The client invites, and the server accepts.
  func connect(by address: String? = nil) async throws -> (onClient: Member, onServer: Member) {
    async let accepted: Member? = {
      for await invitation in server.invitations { return try await invitation.accept() }
      return nil
    }()
    let onClient =
      if let address { try await client.invite(at: address) } else { try await client.invite(serverInSight()) }
    return (onClient, try #require(try await accepted))
  }
}

/// What several tasks have told, in order, for a test that waits for some of it.
final class Told: Sendable {
  private let lines = Mutex<[String]>([])
  private let stream: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  var all: [String] { lines.withLock { $0 } }

  func add(_ line: String) {
    lines.withLock { $0.append(line) }
    continuation.yield(line)
  }

  /// Waits for a line that contains this, after the last one that was waited for.
  func until(_ text: String) async {
    for await line in stream where line.contains(text) { return }
  }
}

/// The error that `body` throws.
func failure<Value>(_ body: () async throws -> Value) async -> PiconetError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? PiconetError
  }
}
