import Foundation
import Piconet
import PiconetActors
import TestSupport
import Testing

@Suite("Which members may call which objects", .timeLimit(.minutes(10)))
struct PolicyTests {
  @Test("a program's own policy is asked before each call, with its caller, object and method")
  func asking() async throws {
    var configuration = ActorSystemConfiguration()
    configuration.policy = .asking { call in
      call.caller.name == "Client" && call.path == "/desk" && call.interface == "test.desk" && call.method != "reset"
    }
    try await Pair.run(service: configuration) { pair in
      let desk = try pair.desk()
      #expect(try await desk.concatenate("a", "b") == "ab")
      #expect(await code { try await desk.reset() } == .notAllowed)
      #expect(await code { try await pair.client.ping(pair.toService) } == .notAllowed)
    }
  }

  @Test("a member that another one has introduced may call nothing until it is allowed")
  func introduced() async throws {
    let session = UUID().uuidString
    func configuration(_ name: String) -> NodeConfiguration {
      var configuration = NodeConfiguration(sessionID: session, name: name)
      configuration.interfaces = ["lo"]
      configuration.listen = "127.0.0.1:0"
      configuration.introductions = .takeWord
      return configuration
    }
    try await Node.run(configuration("Ada")) { ada in
      try await Node.run(configuration("Ben")) { ben in
        try await Node.run(configuration("Cleo")) { cleo in
          for node in [ben, cleo] {
            try await node.setAvailable(true)
            try await Pair.join(ada, node, at: try #require(await node.listeningAddresses.first).text)
          }
          let toBen = try #require(ada.session[ben.id])
          let toCleo = try #require(ada.session[cleo.id])
          try await ada.session.introduce(toBen, to: toCleo)
          try await PiconetActorSystem.run(on: ben) { service in
            try service.publish(WorkingDesk(actorSystem: service), at: "/desk")
            try await PiconetActorSystem.run(on: ada) { known in
              try await known.object($Desk.self, at: "/desk", of: toBen).reset()
            }
            try await PiconetActorSystem.run(on: cleo) { introduced in
              let member = try #require(cleo.session[ben.id])
              let desk = try introduced.object($Desk.self, at: "/desk", of: member)
              #expect(await code { try await desk.reset() } == .notAllowed)
              #expect(await code { try await introduced.ping(member) } == .notAllowed)
              service.allow(cleo.id.peer)
              try await desk.reset()
              service.disallow(cleo.id.peer)
              #expect(await code { try await desk.reset() } == .notAllowed)
            }
          }
        }
      }
    }
  }

  @Test("an introduced member is told no signals, tells none and has no name until it is allowed")
  func introducedBesideCalls() async throws {
    try await threeNodes { ben, cleo, service, introduced in
      let told = RemoteSignal<Int>("test.lamp", "told")
      let kept = RemoteSignal<Int>("test.lamp", "kept")
      let (toBen, toCleo) = (try #require(cleo.session[ben.id]), try #require(ben.session[cleo.id]))
      // Calls need both sides: each must allow the other.
      introduced.allow(ben.id.peer)
      #expect(await code { try await introduced.ping(toBen) } == .notAllowed)
      var events = introduced.events.makeAsyncIterator()
      let heard = introduced.signals(told)
      let heardHere = service.signals(told)
      try service.set(kept, 1)
      try introduced.set(kept, 2)
      try await service.emit(told, 3)
      #expect(await code { try await service.emit(told, 4, to: .member(toCleo)) } == .notAllowed)
      try await introduced.emit(told, 5)
      #expect(try await introduced.claim("cleo") == .owner)
      while let event = await events.next() { if case .nameRefused("cleo", by: toBen) = event { break } }
      #expect(service.owner(of: "cleo") == nil)
      // An answer shows that all before it has come.
      #expect(await code { try await introduced.ping(toBen) } == .notAllowed)
      #expect(introduced.value(of: kept, of: toBen) == nil && service.value(of: kept, of: toCleo) == nil)

      service.allow(cleo.id.peer)
      #expect(service.owner(of: "cleo") == cleo.id)
      for await value in introduced.values(of: kept, of: toBen) {
        #expect(value == 1)
        break
      }
      try await service.emit(told, 6)
      for await signal in heard {
        #expect(signal.value == 6)
        break
      }
      try introduced.set(kept, 7)
      for await value in service.values(of: kept, of: toCleo) {
        #expect(value == 7)
        break
      }
      try await introduced.emit(told, 8)
      for await signal in heardHere {
        #expect(signal.value == 8)
        break
      }
      service.disallow(cleo.id.peer)
      #expect(service.owner(of: "cleo") == nil)
    }
  }

  @Test("a program's own policy decides what a member observes, tells and is called")
  func access() async throws {
    var configuration = ActorSystemConfiguration()
    configuration.policy = .asking { access in
      switch access.purpose {
      case .observing(path: "/lamp", interface: "test.lamp", name: "open"), .claiming(name: "mine"): true
      case .telling(path: _, interface: _, name: "open"): access.member.name == "Client"
      default: false
      }
    } calls: { _ in
      true
    }
    try await Pair.run(service: configuration) { pair in
      let open = RemoteSignal<Int>("test.lamp", "open")
      let secret = RemoteSignal<Int>("test.lamp", "secret")
      try await pair.client.ping(pair.toService)
      try pair.service.set(secret, 1, of: "/lamp")
      try pair.service.set(open, 2, of: "/lamp")
      for await value in pair.client.values(of: open, at: "/lamp", of: pair.toService) {
        #expect(value == 2)
        break
      }
      #expect(pair.client.value(of: secret, at: "/lamp", of: pair.toService) == nil)
      #expect(
        await code { try await pair.service.emit(secret, 1, from: "/lamp", to: .member(pair.toClient)) } == .notAllowed)
      try pair.client.set(secret, 3)
      try pair.client.set(open, 4)
      for await value in pair.service.values(of: open, of: pair.toClient) {
        #expect(value == 4)
        break
      }
      #expect(pair.service.value(of: secret, of: pair.toClient) == nil)
      #expect(try await pair.client.claim("mine") == .owner)
      #expect(pair.service.owner(of: "mine") == pair.client.node.id)
      #expect(try await pair.client.claim("yours") == .owner, "as far as it knows")
      #expect(pair.service.owner(of: "yours") == nil)
    }
  }

  /// Ada has introduced Ben and Cleo to one another, and takes no part.
  private func threeNodes(
    _ body: (_ ben: Node, _ cleo: Node, _ service: PiconetActorSystem, _ introduced: PiconetActorSystem) async throws
      -> Void
  ) async throws {
    let session = UUID().uuidString
    func configuration(_ name: String) -> NodeConfiguration {
      var configuration = NodeConfiguration(sessionID: session, name: name)
      configuration.interfaces = ["lo"]
      configuration.listen = "127.0.0.1:0"
      configuration.introductions = .takeWord
      return configuration
    }
    try await Node.run(configuration("Ada")) { ada in
      try await Node.run(configuration("Ben")) { ben in
        try await Node.run(configuration("Cleo")) { cleo in
          for node in [ben, cleo] {
            try await node.setAvailable(true)
            try await Pair.join(ada, node, at: try #require(await node.listeningAddresses.first).text)
          }
          try await ada.session.introduce(try #require(ada.session[ben.id]), to: try #require(ada.session[cleo.id]))
          try await PiconetActorSystem.run(on: ben) { service in
            try await PiconetActorSystem.run(on: cleo) { introduced in try await body(ben, cleo, service, introduced) }
          }
        }
      }
    }
  }
}
