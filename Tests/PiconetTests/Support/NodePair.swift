import Piconet
import Testing

/// Two nodes of one process that reach each other over 127.0.0.1 only, without discovery.
struct NodePair {
  let server: Node
  let client: Node

  static func run<Value>(
    server change: (inout NodeConfiguration) -> Void = { _ in },
    client clientChange: (inout NodeConfiguration) -> Void = { _ in },
    _ body: (NodePair) async throws -> Value
  ) async throws -> Value {
    var server = NodeConfiguration(sessionID: "test", name: "Server")
    server.mode = .server
    server.listen = "127.0.0.1:0"
    server.discovers = false
    change(&server)
    var client = NodeConfiguration(sessionID: "test", name: "Client")
    client.mode = .client
    client.discovers = false
    clientChange(&client)
    return try await Node.run(server) { server in
      try await server.setAvailable(true)
      return try await Node.run(client) { client in
        try await body(NodePair(server: server, client: client))
      }
    }
  }

  func address() async throws -> String {
    try #require(await server.listeningAddresses.first { $0.kind == .tcp }).text
  }

  /// Connects them: the client invites, the server accepts.
  func connect() async throws -> (onClient: Member, onServer: Member) {
    async let accepted: Member? = {
      for await invitation in server.invitations { return try await invitation.accept() }
      return nil
    }()
    let onClient = try await client.invite(at: address())
    return (onClient, try #require(try await accepted))
  }
}
