import Foundation
import Testing

@testable import GameKit

@Suite("Sessions of GameKit on loopback", .timeLimit(.minutes(10)))
struct SessionTests {
  /// What a peer was told from the request on: it may have seen the one that asks before, or not yet.
  private func asked(_ told: [String]) -> [String] {
    Array(told.first == "available Anna" ? told.dropFirst() : told[...])
  }

  @Test("two find each other, connect, talk and part, each told all of it once, in order, on the main queue")
  func transcript() async throws {
    try await connected { anna, ben in
      try anna.session.send(Data("hello".utf8), toPeers: [anna.id(of: ben)], with: .reliable)
      await ben.wait(for: "data Anna hello")
      try ben.session.sendData(toAllPeers: Data("yes?".utf8), with: .reliable)
      await anna.wait(for: "data Ben yes?")
      #expect(anna.session.peers(with: .stateConnected) as? [String] == [ben.peerID])
      #expect(anna.session.peers(with: .stateAvailable) == nil)
      ben.session.isAvailable = false
      ben.session.disconnectFromAllPeers()
      await anna.wait(for: "disconnected Ben")
      await ben.wait(for: "disconnected Anna")
      func core(_ told: [String]) -> [String] { Array(told.prefix(while: { !$0.hasPrefix("disconnected") })) }
      #expect(core(anna.told) == ["available Ben", "connecting Ben", "connected Ben", "data Ben yes?"])
      #expect(
        core(ben.told) == [
          "available Anna", "connecting Anna", "request Anna", "connected Anna", "data Anna hello",
        ])
      #expect(anna.callsOffMain == 0 && ben.callsOffMain == 0)
    }
  }

  @Test("ids and names are the same on both sides, and known before anything was made available")
  func identity() async throws {
    let session = GKSession(sessionID: "x", displayName: "Eva\u{7}", sessionMode: .client)
    #expect(session?.peerID.count == 18 && session?.displayName == "Eva" && session?.sessionMode == .client)
    #expect(session?.isAvailable == false && session?.disconnectTimeout == 20)
    #expect(session?.displayName(forPeer: session?.peerID) == "Eva" && session?.displayName(forPeer: "1") == nil)
    let nameless = GKSession(sessionID: nil, displayName: nil, sessionMode: .peer)
    #expect(nameless?.displayName.isEmpty == false && nameless?.sessionID.isEmpty == false)
    try await connected { anna, ben in
      #expect(anna.session.peers(with: .stateConnected) as? [String] == [ben.peerID])
      #expect(ben.session.peers(with: .stateConnected) as? [String] == [anna.peerID])
      // User code elects by this, on both sides.
      #expect((anna.session.peerID < ben.session.peerID) != (ben.session.peerID < anna.session.peerID))
    }
  }

  @Test("a server is found by clients and finds no peer")
  func modes() async throws {
    let id = Side.freshID()
    let server = Side("Server", in: id, mode: .server)
    let clients = ["Anna", "Ben"].map { Side($0, in: id, mode: .client, connects: true) }
    for side in clients + [server] { side.session.isAvailable = true }
    for client in clients { await client.wait(for: "connected Server") }
    for name in ["Anna", "Ben"] { await server.wait(for: "connected \(name)") }
    #expect(!server.told.contains { $0.hasPrefix("available") })
    #expect(clients[0].told.filter { $0.hasPrefix("available") } == ["available Server"])
  }

  @Test("a request that is declined fails with declinedError there, and makes no connection")
  func declining() async throws {
    let id = Side.freshID()
    let (anna, ben) = (Side("Anna", in: id), Side("Ben", in: id, answer: .deny))
    for side in [anna, ben] { side.session.isAvailable = true }
    await anna.wait(for: "available Ben")
    anna.session.connect(toPeer: anna.id(of: ben), withTimeout: 60)
    await anna.wait(for: "failed Ben declinedError")
    #expect(anna.session.peers(with: .stateConnected) == nil && ben.session.peers(with: .stateConnected) == nil)
    #expect(!(anna.told + ben.told).contains { $0.hasPrefix("connected") })
    // It is available all the while, and may be asked again.
    #expect(anna.session.peers(with: .stateAvailable) as? [String] == [ben.peerID])
    anna.session.connect(toPeer: anna.id(of: ben), withTimeout: 60)
    await anna.wait(for: "failed Ben declinedError", times: 2)
  }

  @Test("a request that is taken back fails with cancelledError on both sides, and its accept throws that")
  func cancelling() async throws {
    let id = Side.freshID()
    let (anna, ben) = (Side("Anna", in: id), Side("Ben", in: id, answer: .none))
    for side in [anna, ben] { side.session.isAvailable = true }
    await anna.wait(for: "available Ben")
    anna.session.connect(toPeer: anna.id(of: ben), withTimeout: 60)
    await ben.wait(for: "request Anna")
    #expect(ben.session.peers(with: .stateConnecting) as? [String] == [anna.peerID])
    anna.session.cancelConnect(toPeer: anna.id(of: ben))
    await anna.wait(for: "failed Ben cancelledError")
    await ben.wait(for: "failed Anna cancelledError")
    #expect(throwsCode(.cancelledError) { try ben.session.acceptConnection(fromPeer: ben.id(of: anna)) })
  }

  @Test("a request without an answer times out on both sides")
  func timingOut() async throws {
    let id = Side.freshID()
    let (anna, ben) = (Side("Anna", in: id), Side("Ben", in: id, answer: .none))
    for side in [anna, ben] { side.session.isAvailable = true }
    await anna.wait(for: "available Ben")
    anna.session.connect(toPeer: anna.id(of: ben), withTimeout: 1)
    await anna.wait(for: "failed Ben timedOutError")
    await ben.wait { told in told.contains("request Anna") ? told.contains("failed Anna timedOutError") : true }
  }

  @Test("a peer that connects to one is connected with all, and a peer is disconnected from all")
  func mesh() async throws {
    try await connected { anna, ben in
      let carl = Side("Carl", in: anna.session.sessionID)
      carl.session.isAvailable = true
      await carl.wait(for: "available Anna")
      carl.session.connect(toPeer: carl.id(of: anna), withTimeout: 60)
      for (side, names) in [(anna, ["Ben", "Carl"]), (ben, ["Anna", "Carl"]), (carl, ["Anna", "Ben"])] {
        for name in names { await side.wait(for: "connected \(name)") }
      }
      // Ben's delegate was not asked about Carl.
      #expect(!ben.told.contains("request Carl"))
      try carl.session.sendData(toAllPeers: Data("hi".utf8), with: .reliable)
      await ben.wait(for: "data Carl hi")
      anna.session.disconnectPeer(fromAllPeers: anna.id(of: carl))
      await anna.wait(for: "disconnected Carl")
      await ben.wait(for: "disconnected Carl")
      await carl.wait(for: "disconnected Anna")
      await carl.wait(for: "disconnected Ben")
      #expect(anna.session.peers(with: .stateConnected) as? [String] == [ben.peerID])
    }
  }

  @Test("both sides connecting at once, 200 times, is one connection, told once to each")
  func bothAtOnce() async throws {
    let rounds = 200
    let id = Side.freshID()
    let (anna, ben) = (Side("Anna", in: id, connects: true), Side("Ben", in: id, connects: true))
    for side in [anna, ben] { side.session.isAvailable = true }
    for round in 1...rounds {
      await anna.wait(for: "connected Ben", times: round)
      await ben.wait(for: "connected Anna", times: round)
      if round == rounds { break }
      // The two leave in turns; both ask again as soon as the other one is available.
      (round.isMultiple(of: 2) ? anna : ben).session.disconnectFromAllPeers()
      await anna.wait(for: "disconnected Ben", times: round)
      await ben.wait(for: "disconnected Anna", times: round)
    }
    for (side, other) in [(anna, "Ben"), (ben, "Anna")] {
      let states = side.told.filter { $0.hasSuffix(other) && !$0.hasPrefix("request") && !$0.hasPrefix("connecting") }
      let round = ["connected \(other)", "disconnected \(other)"]
      // The peer that is asked may not have seen the other one yet. If it has, it is connected next.
      let available = "available \(other)"
      #expect(states.filter { $0 != available } == Array(repeatElement(round, count: rounds).joined().dropLast()))
      #expect(zip(states, states.dropFirst()).allSatisfy { $0 != available || $1 == round[0] }, "\(states)")
      #expect(states.last == round[0] && states.count > round.count * rounds, "\(states)")
      #expect(!side.told.contains { $0.hasPrefix("failed") || $0.hasPrefix("accepting") })
    }
  }

  @Test("eight peers that all ask one another become one session, each pair told once")
  func everybodyAsks() async throws {
    let id = Side.freshID()
    // Each is a device: of one key a node lets in no more than four at a time.
    let sides = (1...8).map { Side("Peer \($0)", in: id, connects: true, on: SessionHost(interfaces: ["lo"])) }
    for side in sides { side.session.isAvailable = true }
    for side in sides {
      for other in sides where other !== side { await side.wait(for: "connected \(other.name)") }
    }
    for side in sides {
      try side.session.sendData(toAllPeers: Data("from \(side.name)".utf8), with: .reliable)
      #expect(side.session.peers(with: .stateConnected)?.count == 7)
    }
    for side in sides {
      for other in sides where other !== side { await side.wait(for: "data \(other.name) from \(other.name)") }
      #expect(side.told.filter { $0.hasPrefix("connected") }.count == 7)
      #expect(!side.told.contains { $0.hasPrefix("failed") || $0.hasPrefix("disconnected") }, "\(side.told)")
    }
  }

  @Test("a peer that is sent away and comes back at once is asked about each time, and let in")
  func comingBack() async throws {
    let rounds = 50
    let id = Side.freshID()
    let (anna, ben) = (Side("Anna", in: id), Side("Ben", in: id, connects: true))
    for side in [anna, ben] { side.session.isAvailable = true }
    for round in 1...rounds {
      await anna.wait(for: "connected Ben", times: round)
      await ben.wait(for: "connected Anna", times: round)
      if round < rounds { anna.session.disconnectPeer(fromAllPeers: anna.id(of: ben)) }
    }
    #expect(anna.told.filter { $0.hasPrefix("request") }.count == rounds)
    #expect(!(anna.told + ben.told).contains { $0.hasPrefix("failed") || $0.hasPrefix("accepting") })
  }

  @Test("a session that is let go of without a word is left in good order")
  func lettingGo() async throws {
    try await connected { anna, ben in
      try ben.session.sendData(toAllPeers: Data("last words".utf8), with: .reliable)
      ben.letGo()
      await anna.wait(for: "disconnected Ben")
      #expect(anna.told.contains("data Ben last words"))
      await anna.wait(for: "unavailable Ben")
    }
  }

  @Test("a delegate that comes late is told what has happened, and a handler gets what came before it")
  func lateDelegate() async throws {
    let id = Side.freshID()
    let anna = Side("Anna", in: id, connects: true)
    let ben = Side("Ben", in: id, hasDelegate: false, hasHandler: false)
    for side in [anna, ben] { side.session.isAvailable = true }
    await anna.wait(for: "connecting Ben")
    // The request may have come, and waits for a delegate to answer it.
    ben.session.delegate = ben
    await anna.wait(for: "connected Ben")
    try anna.session.sendData(toAllPeers: Data("one".utf8), with: .reliable)
    try anna.session.sendData(toAllPeers: Data("two".utf8), with: .reliable)
    await ben.wait(for: "connected Anna")
    ben.session.setDataReceiveHandler(ben, withContext: nil)
    await ben.wait(for: "data Anna two")
    #expect(
      asked(ben.told) == [
        "connecting Anna", "request Anna", "connected Anna", "data Anna one", "data Anna two",
      ], "\(ben.told)")
  }

  @Test("a session that can't be says so, and one of a wrong handler too")
  func failing() async throws {
    let side = Side("Anna", in: String(repeating: "x", count: 128))
    side.session.isAvailable = true
    await side.wait(for: "session failed invalidParameterError")
    let other = Side("Ben", in: Side.freshID())
    other.session.setDataReceiveHandler(NSObject(), withContext: nil)
    await other.wait(for: "session failed invalidParameterError")
  }

  @Test("what is asked of peers that are not there fails, and does nothing")
  func strangers() async throws {
    let side = Side("Anna", in: Side.freshID())
    side.session.connect(toPeer: "7", withTimeout: 1)
    await side.wait(for: "failed 7 peerNotFoundError")
    #expect(throwsCode(.peerNotFoundError) { try side.session.acceptConnection(fromPeer: "7") })
    side.session.denyConnection(fromPeer: nil)
    side.session.cancelConnect(toPeer: "7")
    side.session.disconnectPeer(fromAllPeers: "7")
    side.session.disconnectFromAllPeers()
    try await connected { anna, ben in
      // Already connected: nothing to be done, and nothing wrong.
      try ben.session.acceptConnection(fromPeer: ben.id(of: anna))
      anna.session.connect(toPeer: anna.id(of: ben), withTimeout: 60)
      anna.session.cancelConnect(toPeer: anna.id(of: ben))
      #expect(anna.session.peers(with: .stateConnected)?.count == 1)
    }
  }

  @Test("the disconnect timeout takes what can be, and the nearest of that for anything else")
  func disconnectTimeout() {
    let session = GKSession()
    for (set, expected) in [(5.0, 5.0), (1, 2), (0, 0), (-1, 0), (1e9, 86_400), (.nan, 86_400), (20, 20)] {
      session.disconnectTimeout = set
      #expect(session.disconnectTimeout == expected)
    }
  }
}
