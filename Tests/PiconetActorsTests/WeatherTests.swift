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

  @Test("a system that stops ends the calls to it with that reason, and the next one of the node serves again")
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

  @Test("calls under way when the callee is started anew end, and its former objects are told from the new ones")
  func restartUnderCalls() async throws {
    let folder = try TemporaryFolder()
    let session = UUID().uuidString
    var configuration = Pair.configuration("Service", session)
    configuration.identity = .directory(try folder.folder("state"))
    try await Node.run(Pair.configuration("Client", session)) { client in
      let system = try PiconetActorSystem(client)
      defer { system.stop() }
      var former: $Desk?
      for round in 0..<2 {
        try await Node.run(configuration) { service in
          try await service.setAvailable(true)
          try await Pair.join(client, service, at: try #require(await service.listeningAddresses.first).text)
          let services = try PiconetActorSystem(service)
          let log = DeskLog()
          try services.publish(WorkingDesk(log: log, actorSystem: services), at: "/desk")
          let desk = try system.object($Desk.self, at: "/desk", of: try #require(client.session[service.id]))
          if let former {
            #expect(await code { try await former.waitForEver() } == .restarted)
            #expect(try await desk.concatenate("a", "b") == "ab")
            return services.stop()
          }
          let calls = (0..<10).map { _ in Task { await code { try await desk.waitForEver() } } }
          var waits = log.waits.stream.makeAsyncIterator()
          for _ in 0..<10 { await waits.next() }
          await service.stop()
          for call in calls {
            let ended = await call.value
            #expect(ended == .left || ended == .shuttingDown, "round \(round): \(String(describing: ended))")
          }
          #expect(await code { try await desk.reset() } == .notConnected)
          former = desk
        }
      }
    }
  }

  @Test("a method whose caller waits no more knows why: taken back, late, gone, or its program has stopped")
  func reasons() async throws {
    try await Pair.run { pair in
      let log = DeskLog()
      let desk = try pair.desk(log)
      var endings = log.endings.stream.makeAsyncIterator()
      var waits = log.waits.stream.makeAsyncIterator()
      func wait() async -> Task<RemoteCallError.Code?, Never> {
        let call = Task { await code { try await desk.waitForEver() } }
        await waits.next()
        return call
      }
      let taken = await wait()
      taken.cancel()
      #expect(await endings.next()??.code == .cancelled)
      _ = await code { try await CallDeadline.within(.milliseconds(50)) { try await desk.waitForEver() } }
      await waits.next()
      // The caller's word for it may come before the callee's own clock has it.
      let late = try #require(await endings.next() ?? nil)
      #expect(late.code == .timedOut || late.code == .cancelled)
      let stopped = await wait()
      pair.client.stop()
      #expect(await stopped.value == .shuttingDown)
      #expect(await endings.next()??.code == .shuttingDown)
      let another = try PiconetActorSystem(pair.client.node)
      defer { another.stop() }
      let again = try another.object($Desk.self, at: "/desk", of: pair.toService)
      let gone = Task { await code { try await again.waitForEver() } }
      await waits.next()
      await pair.toService.disconnect()
      #expect(await gone.value == .left)
      let error = await endings.next()
      #expect(error??.code == .left && error??.underlying != nil)
    }
  }

  @Test("long calls whose time is over while there is no way to the member are not sent when there is one again")
  func withdrawn() async throws {
    try await Pair.run(throughRelay: true) { pair in
      let desk = try pair.desk()
      let relay = try #require(pair.relay)
      try await desk.reset()
      relay.setSilent(true)
      let bytes = [UInt8](repeating: 1, count: 1_000_000)
      await withTaskGroup(of: RemoteCallError.Code?.self) { group in
        for _ in 0..<40 {
          group.addTask {
            await code { try await CallDeadline.within(.milliseconds(300)) { try await desk.length(of: bytes) } }
          }
        }
        for await code in group { #expect(code == .timedOut) }
      }
      relay.setSilent(false)
      #expect(try await desk.length(of: bytes) == 1_000_000)
      // Some had left the program before.
      #expect(try await desk.lengthCount() < 25)
    }
  }

  @Test("callers that are cancelled while answers come in end once each, with their own results or as cancelled")
  func cancelledInABatch() async throws {
    try await Pair.run { pair in
      let desk = try pair.desk()
      // Until it has greeted, 16 calls are all that a member is known to take.
      try await pair.client.ping(pair.toService)
      for _ in 0..<40 {
        let calls = (0..<100).map { number in Task { try await desk.concatenate("a", "\(number)") } }
        let cancelled = Set((0..<100).shuffled().prefix(50))
        for number in cancelled { calls[number].cancel() }
        for (number, call) in calls.enumerated() {
          switch await call.result {
          case .success(let text): #expect(text == "a\(number)")
          case .failure(let error):
            #expect((error as? RemoteCallError)?.code == .cancelled && cancelled.contains(number), "\(error)")
          }
        }
      }
      // Every place is free again.
      try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<100 { group.addTask { try await desk.concatenate("b", "c") } }
        for try await text in group { #expect(text == "bc") }
      }
    }
  }

  @Test("a member that takes only tiny messages is not called, and calls no member")
  func tinyMessages() async throws {
    let session = UUID().uuidString
    try await Node.run(Pair.configuration("Service", session)) { service in
      try await service.setAvailable(true)
      var configuration = Pair.configuration("Client", session)
      configuration.messageLimit = 100
      try await Node.run(configuration) { client in
        try await Pair.join(client, service, at: try #require(await service.listeningAddresses.first).text)
        try await PiconetActorSystem.run(on: service) { services in
          try await PiconetActorSystem.run(on: client) { clients in
            let (toService, toClient) = (try #require(client.session[service.id]), service.session[client.id])
            #expect(await code { try await clients.ping(toService) } == .notConnected)
            #expect(await code { try await services.ping(try #require(toClient)) } == .notConnected)
          }
        }
      }
    }
  }
}
