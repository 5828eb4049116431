import Piconet

/// `hello wait` waits for a greeting and prints it; `hello` greets the first peer that it finds.
@main struct Hello {
  static func main() async throws {
    let waits = CommandLine.arguments.contains("wait")
    var configuration = NodeConfiguration(session: "hello", name: waits ? "Waiter" : "Greeter")
    configuration.mode = waits ? .server : .client
    configuration.interfaces = ["lo"]  // two terminals of one machine; without this line: every network it is on
    try await Node.run(configuration) { node in
      try await node.setAvailable(true)
      if waits { try await printGreeting(node) } else { try await greet(node) }
    }
  }

  static func printGreeting(_ node: Node) async throws {
    for await invitation in node.invitations {
      _ = try await invitation.accept()
      break
    }
    for await message in node.session.messages {
      print(String(decoding: message.bytes, as: UTF8.self))
      break
    }
  }

  static func greet(_ node: Node) async throws {
    for await peers in node.peers {
      guard let peer = peers.first else { continue }
      let member = try await node.invite(peer)
      try await member.send("Hello, \(peer.name).".utf8)
      return await member.disconnect()
    }
  }
}
