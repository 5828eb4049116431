import Piconet

var configuration = NodeConfiguration(sessionID: "hello", name: CommandLine.arguments.last ?? "")
configuration.interfaces = ["lo"]  // between two machines: without this line
try await Node.run(configuration) { node in
  try await node.setAvailable(true)
  for await peer in node.peers.compactMap(\.first).prefix(1) {
    let member = try await node.invite(peer)  // the other one invites us: by that both have accepted
    try await member.send("Hello, \(peer.name), from \(node.name).".utf8)
  }
  for await message in node.session.messages.prefix(1) {
    print(message.text)
  }
}
