import Foundation
import Piconet
import PiconetActors
import TestSupport
import Testing

/// Two nodes that are members of one another, each with an actor system.
struct Pair: Sendable {
  /// The node that has the objects.
  let service: PiconetActorSystem
  let client: PiconetActorSystem
  /// The service, as the client's member, and the other way round.
  let toService: Member
  let toClient: Member
  let relay: Relay?

  static func configuration(_ name: String, _ session: String) -> NodeConfiguration {
    var configuration = NodeConfiguration(sessionID: session, name: name)
    configuration.listen = "127.0.0.1:0"
    configuration.discovers = false
    configuration.givePriorityToCalls()
    return configuration
  }

  static func run(
    service: ActorSystemConfiguration = ActorSystemConfiguration(),
    client: ActorSystemConfiguration = ActorSystemConfiguration(), throughRelay: Bool = false,
    _ body: (Pair) async throws -> Void
  ) async throws {
    try await nodes(throughRelay: throughRelay) { serviceNode, clientNode, relay in
      let pair = Pair(
        service: try PiconetActorSystem(serviceNode, service), client: try PiconetActorSystem(clientNode, client),
        toService: try #require(clientNode.session[serviceNode.id]),
        toClient: try #require(serviceNode.session[clientNode.id]), relay: relay)
      defer {
        pair.service.stop()
        pair.client.stop()
      }
      try await body(pair)
    }
  }

  /// Two nodes that are members of one another.
  static func nodes(
    throughRelay: Bool = false, disconnectTimeout: Duration = .seconds(20), session: String = UUID().uuidString,
    _ body: (_ service: Node, _ client: Node, Relay?) async throws -> Void
  ) async throws {
    var configuration = configuration("Service", session)
    configuration.disconnectTimeout = disconnectTimeout
    try await Node.run(configuration) { service in
      try await service.setAvailable(true)
      configuration.name = "Client"
      configuration.mode = .client
      try await Node.run(configuration) { client in
        let address = try #require(await service.listeningAddresses.first).text
        let port = try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
        let relay = throughRelay ? try Relay(to: port) : nil
        defer { relay?.close() }
        try await join(client, service, at: relay?.address ?? address)
        try await body(service, client, relay)
      }
    }
  }

  static func join(_ client: Node, _ service: Node, at address: String) async throws {
    let accepting = Task {
      for await invitation in service.invitations { return try await invitation.accept() }
      throw CancellationError()
    }
    _ = try await client.invite(at: address)
    _ = try await accepting.value
  }

  /// The service's desk, as the client has it.
  func desk(_ log: DeskLog = DeskLog()) throws -> $Desk {
    try service.publish(WorkingDesk(log: log, actorSystem: service), at: "/desk")
    return try client.object($Desk.self, at: "/desk", of: toService)
  }
}

/// The code of the error that a call throws; nil if it throws none, or another kind.
func code<Value>(of call: () async throws -> Value) async -> RemoteCallError.Code? {
  do {
    _ = try await call()
    return nil
  } catch {
    return (error as? RemoteCallError)?.code
  }
}
