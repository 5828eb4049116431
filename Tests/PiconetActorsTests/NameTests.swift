import Foundation
import Piconet
import PiconetActors
import TestSupport
import Testing

@Suite("Names in a session", .timeLimit(.minutes(10)))
struct NameTests {
  @Test("one node has the name, and another learns its owner, queues, and gets it when the owner gives it back")
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

  @Test("a name goes with its owner, and a node that comes back finds the new owner")
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

  @Test("a search finds names and interfaces, and loses them when they are advertised no more")
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
        try await ben.advertise(
          Advertisement(
            names: ["org.example.lamp"], interfaces: [AdvertisedInterface("test.lamp", version: 3), "test.desk"],
            model: "Lamp, 3000"))
        for node in [ada, ben] { try await node.setAvailable(true) }
        var names = ada.advertisers(ofNamesBeginning: "org.example").makeAsyncIterator()
        var interfaces = ada.advertisers(ofInterface: "test.desk", over: [.tcp]).makeAsyncIterator()
        guard case .found(let peer, "org.example.lamp")? = await names.next(), case .found? = await interfaces.next()
        else {
          Issue.record("it is not found")
          return
        }
        #expect(peer.name == "Ben" && peer.advertisement.model == "Lamp, 3000")
        #expect(peer.advertisement.interfaces.map(\.version) == [3, 1])
        var versions = ada.advertisers(ofInterface: "test.lamp", from: 3).makeAsyncIterator()
        guard case .found(_, "test.lamp:3")? = await versions.next() else {
          Issue.record("the version is not found")
          return
        }
        var later = ada.advertisers(ofInterface: "test.lamp", from: 4).makeAsyncIterator()
        try await ben.advertise(Advertisement(interfaces: ["test.desk", AdvertisedInterface("test.lamp", version: 4)]))
        guard case .found(_, "test.lamp:4")? = await later.next(), case .lost? = await versions.next() else {
          Issue.record("the later version is not found, or the former not lost")
          return
        }
        try await ben.advertise(Advertisement(names: ["org.example.lamp"]))
        guard case .lost(_, "test.desk")? = await interfaces.next() else {
          Issue.record("it is not lost")
          return
        }
        for wrong in [
          Advertisement(names: ["a,b"]), Advertisement(names: ["a:1"]), Advertisement(interfaces: ["a:1"]),
          Advertisement(interfaces: [AdvertisedInterface("a", version: 0)]),
          Advertisement(names: [String](repeating: String(repeating: "n", count: 99), count: 5)),
        ] {
          do throws(PiconetError) {
            try await ben.advertise(wrong)
            Issue.record("it is taken: \(wrong)")
          } catch {
            #expect(error.code == .invalidArgument, "\(wrong)")
          }
        }
      }
    }
  }

  @Test("a system says what it serves, and what members serve an interface is found among them")
  func implementers() async throws {
    var configuration = ActorSystemConfiguration()
    configuration.about = ["model": "Lamp 3000"]
    try await Pair.run(service: configuration) { pair in
      try pair.service.publish(NewLamp(actorSystem: pair.service), at: "/lamp")
      _ = try pair.desk()
      #expect(
        pair.service.advertisement(names: ["a"])
          == Advertisement(
            names: ["a"], interfaces: ["test.desk", AdvertisedInterface("test.lamp", version: 2)], model: "Lamp 3000"))
      try await pair.client.ping(pair.toService)
      let found = await pair.client.objects(withInterface: "test.lamp", from: 2)
      #expect(found.keys.map(\.name) == ["Service"] && found[pair.toService]?.map(\.path) == ["/lamp"])
      #expect(await pair.client.objects(withInterface: "test.lamp", from: 3).isEmpty)
      #expect(await pair.client.objects(withInterface: "test.floor").isEmpty)
    }
  }

  @Test(
    "what is advertised badly is passed over",
    arguments: ["", ":", "a:", "a:0", "a:-1", "a:x", "a:1:2", "a b", "a:99999999999999999999"])
  func badInterface(text: String) { #expect(AdvertisedInterface(text: text) == nil) }
}
