import Foundation
import Piconet

/// Over a node's session, as a program with `import Piconet` has it.
struct NodePace {
  let options: PaceOptions
  let record: PaceRecord

  init(_ options: PaceOptions, _ record: PaceRecord) {
    self.options = options
    self.record = record
  }

  func run() async throws {
    var configuration = NodeConfiguration(sessionID: "pace", name: options.isServer ? "server" : "client")
    configuration.discovers = false
    configuration.mode = options.isServer ? .server : .client
    configuration.transports = [.tcp]
    configuration.listen = options.isServer ? "127.0.0.1:0" : nil
    try await Node.run(configuration) { node in
      guard options.isServer else {
        let member = try await node.invite(at: "127.0.0.1:\(options.port)")
        try options.send { message in
          guard try member.trySend(message[...]) else { throw PaceFailure(description: "no room for a message") }
        }
        for await case .left in node.session.membership { return }
        return
      }
      try await node.setAvailable(true)
      let address = await node.listeningAddresses.first?.text ?? ""
      print("READY \(address.split(separator: ":").last ?? "0")")
      fflush(nil)
      for await invitation in node.invitations {
        let member = try await invitation.accept()
        for await message in node.session.messages where record.took(Array(message.bytes)) { break }
        await member.disconnect()
        return
      }
    }
  }
}
