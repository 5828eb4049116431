import Foundation
import Piconet
import PiconetActors
import TestSupport
import Testing

@Suite("Calls in bad weather", .timeLimit(.minutes(10)))
struct WeatherTests {
  @Test("a call that is under way while the link breaks is answered over the next one")
  func failover() async throws {
    try await Pair.run(throughRelay: true) { pair in
      let log = DeskLog()
      let desk = try pair.desk(log)
      let relay = try #require(pair.relay)
      var membership = pair.client.node.session.membership.makeAsyncIterator()
      let caller = Task { try await desk.waitForGate() }
      for await _ in log.waits.stream { break }
      relay.cut()
      // Sent while there may be no link at all.
      #expect(try await desk.concatenate("a", "b") == "ab")
      while let change = await membership.next() { if case .resumed = change { break } }
      log.gate.continuation.yield()
      #expect(try await caller.value == 7)
    }
  }

  @Test("calls are served once each, however often links break under them")
  func onceEach() async throws {
    try await Pair.run(throughRelay: true) { pair in
      let desk = try pair.desk()
      let relay = try #require(pair.relay)
      var membership = pair.client.node.session.membership.makeAsyncIterator()
      for number in 0..<100 {
        async let call: Void = desk.reset()
        if number % 20 == 10 {
          relay.cut()
          while let change = await membership.next() { if case .resumed = change { break } }
        }
        try await call
      }
      #expect(try await desk.resetCount() == 100)
    }
  }

  @Test("calls end at once on both sides when a member leaves, and say why")
  func departure() async throws {
    try await Pair.run { pair in
      let log = DeskLog()
      let desk = try pair.desk(log)
      let caller = Task { () -> RemoteCallError? in
        do {
          _ = try await desk.waitForEver()
          return nil
        } catch {
          return error as? RemoteCallError
        }
      }
      for await _ in log.waits.stream { break }
      await pair.toService.disconnect()
      let error = try #require(await caller.value)
      #expect(error.code == .left && error.underlying?.code == .left)
      for await _ in log.cancellations.stream { break }
      #expect(await code { try await desk.reset() } == .notConnected)
    }
  }

  @Test("a device that was started anew has other objects, and calls to the former ones say so")
  func restart() async throws {
    let folder = try TemporaryFolder()
    let session = UUID().uuidString
    var configuration = Pair.configuration("Service", session)
    configuration.identity = .directory(try folder.folder("state"))
    try await Node.run(Pair.configuration("Client", session)) { client in
      let system = try PiconetActorSystem(client)
      defer { system.stop() }
      var former: $Desk?
      for _ in 0..<2 {
        try await Node.run(configuration) { service in
          try await service.setAvailable(true)
          let address = try #require(await service.listeningAddresses.first).text
          try await Pair.join(client, service, at: address)
          try await PiconetActorSystem.run(on: service) { services in
            try services.publish(WorkingDesk(actorSystem: services), at: "/desk")
            let member = try #require(client.session[service.id])
            let desk = try system.object($Desk.self, at: "/desk", of: member)
            #expect(try await desk.concatenate("a", "b") == "ab")
            if let former { #expect(await code { try await former.reset() } == .restarted) }
            former = desk
          }
        }
      }
    }
  }

  @Test("a system that stops says so, what it was asked is told so, and the next one of the node serves again")
  func stoppedSystem() async throws {
    try await Pair.nodes { serviceNode, clientNode, _ in
      let client = try PiconetActorSystem(clientNode)
      defer { client.stop() }
      let member = try #require(clientNode.session[serviceNode.id])
      var events = client.events.makeAsyncIterator()
      for round in 0..<2 {
        let service = try PiconetActorSystem(serviceNode)
        let log = DeskLog()
        try service.publish(WorkingDesk(log: log, actorSystem: service), at: "/desk")
        guard case .found? = await events.next() else {
          Issue.record("round \(round): it is not found")
          return
        }
        let desk = try client.object($Desk.self, at: "/desk", of: member)
        let caller = Task { await code { try await desk.waitForEver() } }
        for await _ in log.waits.stream { break }
        service.stop()
        #expect(await caller.value == .shuttingDown)
        for await _ in log.cancellations.stream { break }
        guard case .lost? = await events.next() else {
          Issue.record("round \(round): it is not lost")
          return
        }
        #expect(await code { try await desk.reset() } == .shuttingDown)
      }
    }
  }

  @Test("a partition ends calls on both sides, each goes on alone, and once it heals both name the same owner again")
  func partition() async throws {
    try await Pair.nodes(throughRelay: true, disconnectTimeout: .seconds(2)) { serviceNode, clientNode, relay in
      let relay = try #require(relay)
      let (service, client) = (try PiconetActorSystem(serviceNode), try PiconetActorSystem(clientNode))
      defer {
        service.stop()
        client.stop()
      }
      let log = DeskLog()
      try service.publish(WorkingDesk(log: log, actorSystem: service), at: "/desk")
      let member = try #require(clientNode.session[serviceNode.id])
      try await client.ping(member)
      #expect(try await service.claim("lamp") == .owner)
      let desk = try client.object($Desk.self, at: "/desk", of: member)
      let caller = Task { await code { try await desk.waitForEver() } }
      for await _ in log.waits.stream { break }
      let events = client.events
      relay.setSilent(true)
      #expect(await caller.value == .left)
      for await _ in log.cancellations.stream { break }
      for await case .lost in events { break }
      #expect(try await client.claim("lamp") == .owner, "it is alone")
      #expect(service.owner(of: "lamp") == serviceNode.id)
      relay.setSilent(false)
      try await Pair.join(clientNode, serviceNode, at: relay.address)
      // The earlier claim counts. Both have told theirs, whichever came first.
      for await case .ownerChanged("lamp", _, let owner) in events where owner == serviceNode.id { break }
      #expect(service.owner(of: "lamp") == serviceNode.id && client.owner(of: "lamp") == serviceNode.id)
      #expect(try await desk.concatenate("a", "b") == "ab", "it is the same incarnation")
    }
  }

  /// What the events of a system's own life are, until it ends.
  private static func lives(_ events: AsyncStream<ActorSystemEvent>) async -> [String] {
    var lives: [String] = []
    for await event in events {
      switch event {
      case .disconnected: lives.append("disconnected")
      case .stopping: lives.append("stopping")
      default: break
      }
    }
    return lives
  }

  @Test("a system goes with its node, and its calls end")
  func stoppedNode() async throws {
    try await Pair.run { pair in
      let log = DeskLog()
      let desk = try pair.desk(log)
      let caller = Task { await code { try await desk.waitForEver() } }
      for await _ in log.waits.stream { break }
      let (events, others) = (pair.client.events, pair.service.events)
      await pair.client.node.stop()
      let ended = try #require(await caller.value)
      #expect([.left, .shuttingDown].contains(ended))
      for await _ in log.cancellations.stream { break }
      #expect(await Self.lives(events).suffix(2) == ["disconnected", "stopping"])
      pair.service.stop()
      #expect(await Self.lives(others) == ["stopping"])
    }
  }

  @Test("a member without an actor system costs its caller the deadline, and nothing after")
  func noSystem() async throws {
    try await Pair.nodes { serviceNode, clientNode, _ in
      try await PiconetActorSystem.run(on: clientNode) { client in
        let member = try #require(clientNode.session[serviceNode.id])
        let code = await code { try await client.ping(member, within: .milliseconds(50)) }
        #expect(code == .timedOut)
        try await PiconetActorSystem.run(on: serviceNode) { _ in _ = try await client.ping(member, within: .seconds(60))
        }
      }
    }
  }
}
