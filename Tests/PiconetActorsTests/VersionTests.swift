import Piconet
import PiconetActors
import TestSupport
import Testing

@Suite("Clients and services of different age", .timeLimit(.minutes(10)))
struct VersionTests {
  @Test("an older client calls a newer service, and a newer one an older service as far as that goes")
  func olderAndNewer() async throws {
    try await Pair.run { pair in
      try pair.service.publish(OldLamp(actorSystem: pair.service), at: "/old")
      try pair.service.publish(NewLamp(actorSystem: pair.service), at: "/new")
      #expect(try await pair.client.object($FirstLamp.self, at: "/new", of: pair.toService).turnOn())
      let old = try pair.client.object($SecondLamp.self, at: "/old", of: pair.toService)
      #expect(try await old.turnOn())
      #expect(await code { try await old.dim(50) } == .wrongVersion)
      let new = try pair.client.object($SecondLamp.self, at: "/new", of: pair.toService)
      #expect(try await new.dim(50) == 50)
      #expect(try await new.dim(by: 50) == -50, "two methods of one name, told apart by their labels")
    }
  }

  @Test("a service says which versions it serves, and a result that has changed is an error, and no crash")
  func incompatible() async throws {
    try await Pair.run { pair in
      try pair.service.publish(NewestLamp(actorSystem: pair.service), at: "/lamp")
      let first = try pair.client.object($FirstLamp.self, at: "/lamp", of: pair.toService)
      #expect(await code { try await first.turnOn() } == .wrongVersion)
      let second = try pair.client.object($SecondLamp.self, at: "/lamp", of: pair.toService)
      #expect(await code { try await second.turnOn() } == .unknownMethod)
      #expect(await code { try await second.dim(3) } == .wrongArguments)
      let desk = try pair.client.object($Desk.self, at: "/lamp", of: pair.toService)
      #expect(await code { try await desk.reset() } == .unknownInterface)
      let nowhere = try pair.client.object($Desk.self, at: "/nowhere", of: pair.toService)
      #expect(await code { try await nowhere.reset() } == .noSuchObject)
    }
  }

  @Test("a method that the table does not declare is refused to the publisher and to the client")
  func notDeclared() async throws {
    try await Pair.run { pair in
      for attempt in [
        { try pair.service.publish(Halved(actorSystem: pair.service), at: "/half") },
        { _ = try pair.client.object($Half.self, at: "/half", of: pair.toService) },
      ] as [() throws -> Void] {
        #expect {
          try attempt()
        } throws: { error in
          let error = error as? RemoteCallError
          return error?.code == .notDeclared && error?.detail == "test.half does not declare add(_:to:)"
        }
      }
      // A call that goes past that check is refused before anything is sent.
      let half = try $Half.resolve(id: RemoteObjectID(pair.toService.id, "/half"), using: pair.client)
      #expect(await code { try await half.add(1, to: 2) } == .notDeclared)
      #expect(await code { try await half.told() } == .noSuchObject)
    }
  }

  @Test("methods of one name that one entry without labels stands for are refused, and never one for another")
  func ambiguous() async throws {
    try await Pair.run { pair in
      #expect {
        try pair.service.publish(OneSwitch(actorSystem: pair.service), at: "/switch")
      } throws: {
        ($0 as? RemoteCallError)?.code == .notDeclared
      }
      let object = try $Switch.resolve(id: RemoteObjectID(pair.toService.id, "/switch"), using: pair.client)
      #expect(await code { try await object.turn(1, by: 2) } == .notDeclared, "it has more parameters")
      #expect(await code { try await object.turn(on: 1) } == .noSuchObject)
      for _ in 0..<2 {
        await #expect {
          try await object.turn(off: 1)
        } throws: { error in
          let error = error as? RemoteCallError
          return error?.code == .notDeclared && error?.detail.contains("turn(off:) or turn(on:)") == true
        }
        #expect(await code { try await object.turn(on: 1) } == .notDeclared)
      }
    }
  }

  @Test("a faulty table, a wrong path, a path that is taken and another system's object are refused at publication")
  func publication() async throws {
    try await Pair.run { pair in
      let desk = WorkingDesk(actorSystem: pair.service)
      for path in ["", "desk", "/desk/", "/a b"] {
        #expect(throws: RemoteCallError.self) { try pair.service.publish(desk, at: path) }
      }
      try pair.service.publish(desk, at: "/a")
      #expect(throws: RemoteCallError.self) { try pair.service.publish(desk, at: "/a") }
      #expect(throws: RemoteCallError.self) { try pair.service.publish(desk, at: "/") }
      #expect(throws: RemoteCallError.self) { try pair.client.publish(desk, at: "/a") }
      try pair.service.publish(desk, at: "/b")
      pair.service.unpublish("/a")
      #expect(
        await code { try await pair.client.object($Desk.self, at: "/a", of: pair.toService).reset() } == .noSuchObject)
      try await pair.client.object($Desk.self, at: "/b", of: pair.toService).reset()
      try pair.service.publish(WorkingDesk(actorSystem: pair.service), at: "/a")
      #expect(throws: RemoteCallError.self) { try pair.service.publish(Faulty(actorSystem: pair.service), at: "/c") }
    }
  }
}
