import Dispatch
import Distributed
import Foundation
import Piconet
import PiconetActors
import TestSupport
import Testing

/// Holds its thread until it is let go: no other call gets to it meanwhile.
distributed actor BlockedGuest: Guest {
  typealias ActorSystem = PiconetActorSystem
  private let entered: AsyncStream<Void>.Continuation
  private let gate: DispatchSemaphore

  init(entered: AsyncStream<Void>.Continuation, gate: DispatchSemaphore, actorSystem: PiconetActorSystem) {
    self.entered = entered
    self.gate = gate
    self.actorSystem = actorSystem
  }

  distributed func greet(_ number: Int) -> Int {
    entered.yield()
    return gate.wait(timeout: .now() + 60) == .success ? number : -1
  }
}

@Suite("Pings and presence", .timeLimit(.minutes(10)))
struct PresenceTests {
  @Test("a node, an object and the owner of a name answer a ping, and a missing one is a typed error")
  func pings() async throws {
    try await Pair.run { pair in
      let desk = try pair.desk()
      #expect(try await pair.client.ping(pair.toService) > .zero)
      #expect(try await pair.client.ping(.object(desk.id)) > .zero)
      #expect(try await pair.client.ping(.node(pair.service.node.id)) > .zero)
      let absent = RemoteObjectID(pair.service.node.id, "/absent")
      #expect(await code { try await pair.client.ping(.object(absent)) } == .noSuchObject)
      #expect(await code { try await pair.client.ping(.owner(of: "lamp")) } == .noOwner)
      try await pair.service.claim("lamp")
      #expect(try await pair.client.ping(.owner(of: "lamp")) > .zero)
      #expect(try await pair.client.ping(.owner(of: "lamp", path: "/desk")) > .zero)
      #expect(await code { try await pair.client.ping(.owner(of: "lamp", path: "/absent")) } == .noSuchObject)
      // Its own name and objects.
      try await pair.service.ping(.owner(of: "lamp", path: "/desk"))
      #expect(await code { try await pair.service.ping(.owner(of: "lamp", path: "/absent")) } == .noSuchObject)
      #expect(await code { try await pair.client.ping(.owner(of: "lamp", path: "desk")) } == .invalidArgument)
      await pair.toService.disconnect()
      #expect(await code { try await pair.client.ping(.object(desk.id)) } == .notConnected)
    }
  }

  @Test("an object that is blocked does not answer in time, and its node does")
  func blocked() async throws {
    try await Pair.run { pair in
      let (entries, entered) = AsyncStream.makeStream(of: Void.self)
      let gate = DispatchSemaphore(value: 0)
      try pair.service.publish(BlockedGuest(entered: entered, gate: gate, actorSystem: pair.service), at: "/guest")
      let guest = try pair.client.object($Guest.self, at: "/guest", of: pair.toService)
      let call = Task { try await guest.greet(1) }
      for await _ in entries { break }
      #expect(await code { try await pair.client.ping(.object(guest.id), within: .milliseconds(200)) } == .timedOut)
      gate.signal()
      #expect(try await call.value == 1)
      try await pair.client.ping(.object(guest.id))
    }
  }

  @Test("a policy is asked before a ping of an object, too")
  func policy() async throws {
    var configuration = ActorSystemConfiguration()
    configuration.policy = .asking { $0.interface == "piconet.object" && $0.path == "/desk" && $0.method == "ping" }
    try await Pair.run(service: configuration) { pair in
      let desk = try pair.desk()
      try await pair.client.ping(.object(desk.id))
      #expect(await code { try await pair.client.ping(pair.toService) } == .notAllowed)
      #expect(await code { try await desk.reset() } == .notAllowed)
    }
  }

  /// The next change, in words.
  nonisolated(nonsending) private func next(
    _ changes: inout AsyncStream<PresenceChange>.AsyncIterator
  ) async -> String {
    guard let change = await changes.next(isolation: #isolation) else { return "end" }
    return switch change.presence {
    case .present: "present"
    case .absent(let error): "\(error.code)"
    @unknown default: "?"
    }
  }

  /// Reads changes until this one, or their end: where a limit is short, an answer may be late on a busy machine too.
  nonisolated(nonsending) private func next(
    _ wanted: String, of changes: inout AsyncStream<PresenceChange>.AsyncIterator
  ) async -> Bool {
    while true {
      let change = await next(&changes)
      if change == wanted { return true }
      if change == "end" { return false }
    }
  }

  private func isAbsent(_ presence: Presence?) -> Bool { if case .absent? = presence { true } else { false } }

  /// For an answer that comes in any case, however busy the machine is.
  private static let patience = Duration.seconds(300)

  @Test("an object that is taken away is absent, and present when it is back")
  func objects() async throws {
    try await Pair.run { pair in
      try pair.service.publish(Visitor(actorSystem: pair.service), at: "/guest")
      let id = RemoteObjectID(pair.service.node.id, "/guest")
      var changes = try pair.client.presence(of: .object(id), every: .milliseconds(10), within: Self.patience)
        .makeAsyncIterator()
      #expect(await next(&changes) == "present")
      pair.service.unpublish("/guest")
      #expect(await next(&changes) == "noSuchObject")
      try pair.service.publish(Visitor(actorSystem: pair.service), at: "/guest")
      #expect(await next(&changes) == "present")
      pair.client.stop()
      #expect(await next(&changes) == "end")
    }
  }

  @Test("a node that leaves is absent at once with the reason, and a new owner is asked at once, whatever the interval")
  func atOnce() async throws {
    try await Pair.run { pair in
      try await pair.client.ping(pair.toService)
      let hours = Duration.seconds(7_200)
      var node = try pair.client.presence(of: .node(pair.service.node.id), every: hours, within: Self.patience)
        .makeAsyncIterator()
      var owner = try pair.client.presence(of: .owner(of: "lamp"), every: hours, within: Self.patience)
        .makeAsyncIterator()
      #expect(await next(&node) == "present")
      #expect(await next(&owner) == "noOwner")
      try await pair.service.claim("lamp")
      #expect(await next(&owner) == "present")
      pair.service.release("lamp")
      #expect(await next(&owner) == "noOwner")
      try await pair.client.claim("lamp")
      #expect(await next(&owner) == "present")
      await pair.toService.disconnect()
      #expect(await next(&node) == "left")
      // The same two become members of one another again.
      let address = try #require(await pair.service.node.listeningAddresses.first).text
      try await Pair.join(pair.client.node, pair.service.node, at: address)
      #expect(await next(&node) == "present")
    }
  }

  @Test("a node that falls silent is absent after the limit, and present when it is heard again")
  func silence() async throws {
    try await Pair.run(throughRelay: true) { pair in
      let relay = try #require(pair.relay)
      let service = PingTarget.node(pair.service.node.id)
      let watch = try PresenceWatch(pair.client, every: .milliseconds(10), within: .milliseconds(300))
      try watch.add(service)
      var changes = watch.changes.makeAsyncIterator()
      #expect(await next("present", of: &changes))
      relay.setSilent(true)
      // One that is told of may still have been late before; what lasts is the silence.
      repeat { try #require(await next("timedOut", of: &changes)) } while !isAbsent(watch.presence(of: service))
      relay.setSilent(false)
      #expect(await next("present", of: &changes))
      watch.remove(service)
      #expect(watch.presence(of: service) == nil && watch.targets.isEmpty)
      watch.end()
      #expect(await next("end", of: &changes))
      #expect(await code { try watch.add(.owner(of: "lamp")) } == .shuttingDown)
    }
  }

  @Test("a device that was started anew is another one: the former is absent for that")
  func restart() async throws {
    let folder = try TemporaryFolder()
    let session = UUID().uuidString
    var configuration = Pair.configuration("Service", session)
    configuration.identity = .directory(try folder.folder("state"))
    try await Node.run(Pair.configuration("Client", session)) { client in
      try await PiconetActorSystem.run(on: client) { system in
        let watch = try PresenceWatch(system, every: .seconds(7_200), within: Self.patience)
        var changes = watch.changes.makeAsyncIterator()
        var former: NodeID?
        for _ in 0..<2 {
          try await Node.run(configuration) { service in
            try await service.setAvailable(true)
            try await Pair.join(client, service, at: try #require(await service.listeningAddresses.first).text)
            try await PiconetActorSystem.run(on: service) { services in
              try await system.ping(try #require(client.session[service.id]))
              if let former {
                #expect(await code { try await system.ping(.node(former)) } == .restarted)
              } else {
                try watch.add(.node(service.id))
                #expect(await next(&changes) == "present")
              }
              former = service.id
            }
          }
        }
        // Its program has ended, or the node has left: whichever was told first.
        #expect(["shuttingDown", "left"].contains(await next(&changes)))
        watch.end()
        #expect(await next(&changes) == "end", "it did not come back")
      }
    }
  }

  @Test("a watch has limits, and says them")
  func limits() async throws {
    try await Pair.run { pair in
      #expect(await code { try PresenceWatch(pair.client, every: .zero) } == .invalidArgument)
      #expect(await code { try PresenceWatch(pair.client, within: .seconds(86_401)) } == .invalidArgument)
      let watch = try PresenceWatch(pair.client)
      for number in 0..<256 { try watch.add(.owner(of: "name.\(number)")) }
      #expect(await code { try watch.add(.owner(of: "one.more")) } == .invalidArgument)
      try watch.add(.owner(of: "name.1"))
      #expect(watch.targets.count == 256)
      #expect(
        await code { try pair.service.publish(Namesake(actorSystem: pair.service), at: "/a") } == .invalidArgument)
    }
  }
}
