import Piconet

/// Takes part in several sessions at once, under one name, until `body` returns. Then all of them have been left.
/// - Parameter device: what belongs to the device: where its key is kept, its network interfaces, its Bluetooth.
func takePart(
  in sessions: [NodeConfiguration], on device: NodeHostConfiguration, _ body: ([Node]) async throws -> Void
) async throws {
  try await NodeHost.run(device) { host in
    var nodes: [Node] = []
    for session in sessions {
      let node = try await host.node(session)
      try await node.setAvailable(true)
      nodes.append(node)
    }
    try await body(nodes)
  }
}

/// Plays a round in a session of its own, beside whatever else the host is in, and leaves that session.
func playRound(
  _ round: NodeConfiguration, on host: NodeHost, _ play: (Node) async throws -> String
) async throws -> String {
  try await host.run(round) { node in
    try await node.setAvailable(true)
    return try await play(node)
  }
}
