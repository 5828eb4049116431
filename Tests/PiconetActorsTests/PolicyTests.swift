import Foundation
import Piconet
import PiconetActors
import TestSupport
import Testing

@Suite("Who may call what", .timeLimit(.minutes(10)))
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
}
