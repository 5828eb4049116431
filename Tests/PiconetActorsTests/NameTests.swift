import Foundation
import Piconet
import PiconetActors
import TestSupport
import Testing

@Suite("Names in a session", .timeLimit(.minutes(10)))
struct NameTests {
  @Test("one has the name, another learns who, and gets it when it queues and the first gives it back")
  func claims() async throws {
    try await Pair.run { pair in
      _ = try await pair.client.ping(pair.toService)
      var changes = pair.client.events.makeAsyncIterator()
      #expect(try await pair.service.claim("org.example.lamp") == .owner)
      #expect(try await pair.service.claim("org.example.lamp") == .owner, "again")
      #expect(try await pair.client.claim("org.example.lamp") == .taken(by: pair.service.node.id))
      #expect(try await pair.client.claim("org.example.lamp", .queues) == .queued(1))
      #expect(pair.client.owner(of: "org.example.lamp") == pair.service.node.id)
      pair.service.release("org.example.lamp")
      var owners: [NodeID?] = []
      while owners.last != pair.client.node.id, let event = await changes.next() {
        if case .ownerChanged("org.example.lamp", _, let owner) = event { owners.append(owner) }
      }
      #expect(owners == [pair.service.node.id, pair.client.node.id])
      #expect(await code { try await pair.client.claim("a b") } == .invalidArgument)
    }
  }

  @Test("of two that claim at once one has the name, and both say which")
  func atOnce() async throws {
    try await Pair.run { pair in
      _ = try await pair.client.ping(pair.toService)
      _ = try await pair.service.ping(pair.toClient)
      for round in 0..<20 {
        let name = "name.\(round)"
        async let here = pair.client.claim(name)
        async let there = pair.service.claim(name)
        let standings = try await [here, there]
        #expect(standings.count { $0 == .owner } == 1, "\(standings)")
        #expect(pair.client.owner(of: name) == pair.service.owner(of: name))
        for system in [pair.client, pair.service] { system.release(name) }
      }
    }
  }

  @Test("a name goes with its owner, and one that comes back finds who has it")
  func departure() async throws {
    try await Pair.nodes { serviceNode, clientNode, _ in
      try await PiconetActorSystem.run(on: clientNode) { client in
        let member = try #require(clientNode.session[serviceNode.id])
        let events = client.events
        try await PiconetActorSystem.run(on: serviceNode) { service in
          _ = try await client.ping(member)
          #expect(try await service.claim("a") == .owner)
          #expect(try await client.claim("a", .queues) == .queued(1))
        }
        for await case .ownerChanged("a", _, let owner) in events where owner == clientNode.id { break }
        #expect(client.owner(of: "a") == clientNode.id)
        try await PiconetActorSystem.run(on: serviceNode) { service in
          _ = try await service.ping(try #require(serviceNode.session[clientNode.id]))
          #expect(try await service.claim("a") == .taken(by: clientNode.id))
        }
      }
    }
  }

  @Test("names and interfaces are found by who looks for them, and lost when they are advertised no more")
  func advertisement() async throws {
    let session = UUID().uuidString
    func configuration(_ name: String) -> NodeConfiguration {
      var configuration = NodeConfiguration(sessionID: session, name: name)
      configuration.interfaces = ["lo"]
      configuration.listen = "127.0.0.1:0"
      return configuration
    }
    try await Node.run(configuration("Ada")) { ada in
      try await Node.run(configuration("Ben")) { ben in
        try await ben.advertise(Advertisement(names: ["org.example.lamp"], interfaces: ["test.lamp", "test.desk"]))
        for node in [ada, ben] { try await node.setAvailable(true) }
        var names = ada.advertisers(ofNamesBeginning: "org.example").makeAsyncIterator()
        var interfaces = ada.advertisers(ofInterface: "test.desk", over: [.tcp]).makeAsyncIterator()
        guard case .found(let peer, "org.example.lamp")? = await names.next(), case .found? = await interfaces.next()
        else {
          Issue.record("it is not found")
          return
        }
        #expect(peer.name == "Ben")
        try await ben.advertise(Advertisement(names: ["org.example.lamp"]))
        guard case .lost(_, "test.desk")? = await interfaces.next() else {
          Issue.record("it is not lost")
          return
        }
        await #expect(throws: PiconetError.self) { try await ben.advertise(Advertisement(names: ["a,b"])) }
      }
    }
  }
}
