import Glibc
import Piconet

/// The two ends of a measurement: a node that listens, and one that connects to it.
enum BothEnds {
  static func run(_ options: BenchmarkOptions, _ body: (Node, Member) async throws -> Void) async throws {
    if let way = options.way { return try await over(way, options, body) }
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

  /// With a node between them: both listen, and it invites them.
  private static func over(
    _ way: Middle.Way, _ options: BenchmarkOptions, _ body: (Node, Member) async throws -> Void
  ) async throws {
    var configuration = NodeConfiguration(sessionID: "benchmark", name: options.isServer ? "server" : "client")
    configuration.discovers = false
    configuration.transports = [.tcp]
    configuration.listen = "\(options.host):\(options.port)"
    Middle.change(&configuration, way)
    try await Node.run(configuration) { node in
      try await node.setAvailable(true)
      guard let port = await node.listeningAddresses.first?.text.split(separator: ":").last else {
        throw BenchmarkFailure("no address to listen on")
      }
      print("READY \(port)")
      fflush(nil)
      for await invitation in node.invitations {
        let middle = try await invitation.accept()
        if way == .copy { return try await body(node, middle) }
        for await case .joined(let member) in node.session.membership where member.id != middle.id {
          guard member.transport == .relay else { throw BenchmarkFailure("the other end is reached without the relay") }
          return try await body(node, member)
        }
      }
    }
  }
}
