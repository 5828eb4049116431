import Glibc
import Piconet

/// The two ends of a measurement: a node that listens, and one that connects to it.
enum BothEnds {
  static func run(_ options: BenchmarkOptions, _ body: (Node, Member) async throws -> Void) async throws {
    var configuration = NodeConfiguration(sessionID: "benchmark", name: options.isServer ? "server" : "client")
    configuration.discovers = false
    configuration.mode = options.isServer ? .server : .client
    configuration.transports = [options.transport]
    configuration.bluetooth.adapter = options.adapter
    if options.transport == .tcp { configuration.listen = options.isServer ? "\(options.host):\(options.port)" : nil }
    try await Node.run(configuration) { node in
      if options.isServer {
        try await node.setAvailable(true)
        guard let address = await node.listeningAddresses.first, let port = address.text.split(separator: ":").last
        else {
          throw BenchmarkFailure("no address to listen on")
        }
        print("READY \(options.transport == .tcp ? String(port) : address.text)")
        fflush(nil)
        for await invitation in node.invitations {
          try await body(node, try await invitation.accept())
          return
        }
      } else {
        let first = options.address ?? "127.0.0.1:\(options.port)"
        guard let other = options.otherAddress else {
          return try await body(node, try await node.invite(at: first))
        }
        // The one that should be used is tried first.
        let ways = [first, other].map { TransportAddress(kind: options.transport, text: $0) }
        try await body(node, try await node.invite(at: ways))
      }
    }
  }
}
