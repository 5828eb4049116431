import Piconet
import PiconetActors
import TestSupport
import Testing

@Suite("The articles about objects", .timeLimit(.minutes(15)))
struct ActorsTests {
  /// Two members of one another, each with an actor system.
  private func withSystems(
    _ body: (_ players: Players, _ server: PiconetActorSystem, _ client: PiconetActorSystem, Member) async throws ->
      Void
  ) async throws {
    try await Players.run { players in
      let (onClient, _) = try await players.connect()
      try await PiconetActorSystem.run(on: players.server, carefulConfiguration()) { server in
        try await PiconetActorSystem.run(on: players.client) { client in
          try await body(players, server, client, onClient)
        }
      }
    }
  }

  @Test("a lamp is served, called and introspected, and its caller learns when it is not there")
  func lamp() async throws {
    try await Players.run { players in
      let (member, _) = try await players.connect()
      let serving = Task { try await serveLamp(on: players.server) }
      try await PiconetActorSystem.run(on: players.client) { client in
        let lamp = RemoteObjectID(member.id, "/ceiling")
        // It is there as soon as the other task has got so far.
        for await change in try client.presence(of: .object(lamp), every: .milliseconds(10), within: .seconds(1)) {
          if case .present = change.presence { break }
        }
        #expect(try await brighten(lampOf: member, client) == 3)
        #expect(await tryToBrighten(lampOf: member, client) == "it is 6")
        #expect(try await methods(of: member, client).contains("/ceiling org.example.lamp brighten gives integer"))
        #expect(await isPresent(lamp, client))
        serving.cancel()
        _ = try? await serving.value
        #expect(await isPresent(lamp, client) == false)
      }
    }
  }

  @Test("a lamp is found by its interface and joined, and its name has an owner that others learn of")
  func names() async throws {
    try await Players.run { players in
      try await PiconetActorSystem.run(on: players.server) { server in
        try server.publish(CeilingLamp(actorSystem: server), at: "/ceiling")
        let accepting = Task { await letIn(players.server) }
        defer { accepting.cancel() }
        try await PiconetActorSystem.run(on: players.client) { client in
          let told = Told()
          let following = Task { await followOwner(of: "org.example.ceiling", client) { told.add($0) } }
          // The other task may not have begun to follow yet.
          while told.all.isEmpty {
            try await client.claim("org.example.ceiling")
            client.release("org.example.ceiling")
            await Task.yield()
          }
          #expect(try await beCeiling(server))
          let member = try #require(try await joinLamp(players.client, from: 1))
          #expect(member.id == players.server.id)
          await told.until("another has it")
          #expect(try await beCeiling(client) == false)
          server.release("org.example.ceiling")
          await told.until("nobody has it")
          following.cancel()
        }
      }
    }
  }

  @Test("a kept value comes to its observer, signals to their listener, and the observer learns that a member has gone")
  func signals() async throws {
    try await withSystems { players, server, client, member in
      try await client.ping(member)
      try await server.ping(try #require(players.server.session[players.client.id]))
      let told = Told()
      let watching = Task { await watchSwitches(client) { told.add($0) } }
      let toClient = try #require(players.server.session[players.client.id])
      // The other task may not have begun to listen yet.
      repeat {
        try await tell(server, first: toClient)
        try await client.ping(member)
      } while !told.all.contains("pressed by Ada at /ceiling")
      #expect(told.all.contains("pressed by hand at /ceiling"))
      let observing = Task { await observe(lampOf: member, client) { told.add($0) } }
      await told.until("it is 7")
      try server.set(.brightness, 8, of: "/ceiling")
      await told.until("it is 8")
      await member.disconnect()
      await told.until("it has gone")
      await observing.value
      watching.cancel()
    }
  }

  @Test("the advice about a failed call fits its reason, and the program reports members that come and go")
  func failures() async throws {
    #expect(advice(forCall: RemoteCallError(.tooManyCalls)) == "It is busy.")
    #expect(advice(forCall: RemoteCallError(.tooLarge, detail: "5 bytes")) == "tooLarge: 5 bytes")
    try await withSystems { players, server, client, member in
      let told = Told()
      let watching = Task { try await watch(member, name: "lamp", client) { told.add($0) } }
      // In any order.
      for _ in 0..<2 { await told.until("there") }
      #expect(Set(told.all) == ["\(member.id) is there", "lamp is not there: noOwner"])
      try await server.claim("lamp")
      await told.until("lamp is there")
      await member.disconnect()
      await told.until("\(member.id) is not there: left")
      watching.cancel()
      do {
        _ = try await brighten(lampOf: member, client)
        Issue.record("it was called")
      } catch let error as RemoteCallError {
        #expect(advice(forCall: error).hasPrefix("The device has gone."))
      }
    }
  }
}
