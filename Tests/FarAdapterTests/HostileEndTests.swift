import Glibc
import PiconetEngine
import PiconetIP
import PiconetRuntime
import PiconetWire
import Testing

@testable import FarAdapter

@Suite("A control connection that is lost, or whose other end breaks the rules", .timeLimit(.minutes(15)))
struct HostileEndTests {
  @Test("an agent's end fails links, dials and listening, and is reported once, with the reason")
  func agentEnds() async throws {
    try await FarScene.run { scene in
      await scene.open()
      let (far, near) = try await scene.connect(dialledThere: true)
      await scene.endAgent()
      try await scene.until("it is lost") { scene.lost != nil }
      #expect(scene.lost?.hasPrefix("the control connection to the far adapter at \(scene.place) is lost: ") == true)
      #expect(scene.lost?.hasSuffix("the agent was told to end") == true)
      try await scene.until("both links have ended") { await scene.here.perform { far.end != nil && near.end != nil } }
      let end = await scene.here.perform { far.end }
      guard case .failed(let failure)? = end else {
        Issue.record("\(String(describing: end))")
        return
      }
      #expect(failure == LinkFailure(.notAvailable, scene.lost ?? ""))
      let error = await #expect(throws: LinkFailure.self) {
        try await scene.dial([TransportAddress(kind: .tcp, text: "127.0.0.1:1")], there: true)
      }
      #expect(error == failure)
      #expect(await scene.here.perform { scene.far?.answersPaging() } == false)
      // It ends without an agent that could answer.
      await scene.shutDownFar()
    }
  }

  @Test("where no agent listens everything fails with that, and nothing hangs")
  func noAgent() async throws {
    try await FarScene.run { scene in
      await scene.endAgent()
      await scene.open()
      #expect(scene.lost?.contains("Connection refused") == true, "\(scene.lost ?? "not lost")")
      let error = await #expect(throws: LinkFailure.self) { try await scene.connect(dialledThere: false) }
      #expect(error?.code == .notAvailable && error?.detail == scene.lost)
    }
  }

  @Test("an agent that has not what is wanted says so")
  func wrongKinds() async throws {
    try await FarScene.run { scene in
      await scene.open(kinds: [.l2cap])
      #expect(scene.lost?.hasSuffix("it refuses: there is only tcp here") == true, "\(scene.lost ?? "not lost")")
    }
  }

  /// What an agent must not say after it has opened the node.
  static let lies: [(reports: [AdapterReport], reason: String)] = [
    ([.paging(true)], "answers what nobody has asked"), ([.shutDown], "ended by itself"),
    ([.dialFailed(7, LinkFailure(.other))], "ends dial 7, which is none"),
    ([.received(3, [1])], "link 3, which is none"),
    ([.accepted(link: 2, LinkTraits(kind: .tcp, remoteAddress: ""))], "numbers a link 2"),
    ([.accepted(link: 1, LinkTraits(kind: .le, remoteAddress: ""))], "speaks of le"),
    ([.listeningChanged(.rfcomm, FarListeningPlace(port: 1, addresses: []))], "speaks of rfcomm"),
    ([.refused("no reason")], "it refuses: no reason"),
  ]

  @Test("an agent that says what can't be is lost, with what it said", arguments: lies.indices)
  func liar(index: Int) async throws {
    let socket = try ControlSocket.listen(HostPort(host: "127.0.0.1", port: 0))
    defer { close(socket.descriptor) }
    try await Self.lose(
      by: Self.lies[index].reports.flatMap(RelayFrameDecoder<AdapterReport>.bytes), Self.lies[index].reason)
  }

  @Test("an agent that sends no frames is lost")
  func garbage() async throws {
    try await Self.lose(
      by: Array("HTTP/1.1 400 Bad Request\r\n".utf8), "what came is no frame: a frame of 1213486160 bytes")
  }

  @Test("an agent that is gone is lost")
  func gone() async throws { try await Self.lose(by: nil, "the far machine has ended the connection") }

  /// A node whose agent opens it and then sends these bytes; nil: ends the connection.
  private static func lose(by bytes: [UInt8]?, _ reason: String) async throws {
    let socket = try ControlSocket.listen(HostPort(host: "127.0.0.1", port: 0))
    let place = HostPort(host: "127.0.0.1", port: socket.port)
    // On a thread of its own: the node's loop stands still until the agent has answered.
    let there = try EventLoop(name: "there")
    defer { there.stop() }
    there.execute {
      defer { close(socket.descriptor) }
      guard RawSocket.awaitInput(socket.descriptor), let raw = RawSocket(accepting: socket.descriptor) else { return }
      raw.send(.opened(kinds: [.tcp], discovery: nil))
      if let bytes { raw.send(bytes) } else { raw.endSending() }
      // What the node sends does not matter, only the end.
      while !raw.hasEnded, raw.awaitInput() { try? raw.look() }
    }
    let loop = try EventLoop(name: "here")
    defer { loop.stop() }
    let (losses, tell) = AsyncStream.makeStream(of: String.self)
    let holder = Holder()
    await loop.perform {
      holder.adapter = FarAdapter(loop: loop, agent: place, opening: AdapterOpening(sessionID: "", kinds: [.tcp])) {
        tell.yield($0.description)
      }
    }
    var iterator = losses.makeAsyncIterator()
    let loss = await iterator.next()
    #expect(loss?.contains(reason) == true, "\(loss ?? "")")
    await loop.perform { holder.adapter = nil }
  }

  /// Used on the loop.
  private final class Holder: @unchecked Sendable {
    // Sendable is right: used on the loop only.
    var adapter: FarAdapter?
  }

  private static let opening = AdapterOrder.open(AdapterOpening(sessionID: "session", kinds: [.tcp]))

  /// What a test must not order, and why.
  static let wrongOrders: [(orders: [AdapterOrder], reason: String)] = [
    ([.askPaging], "the first order opens nothing"), ([opening, opening], "a node was opened already"),
    ([.open(AdapterOpening(sessionID: "", kinds: [.l2cap]))], "there is only tcp here"),
    ([opening, .listen(.le)], "there is no transport le"), ([opening, .taken(1, 5)], "there is no link 1"),
    ([opening, .write(.max, [1])], "there is no link"),
    ([opening, .dial(3, .tcp, []), .dial(3, .tcp, [])], "a dial's number comes twice"),
  ]

  @Test(
    "a test that orders what can't be is refused with the reason, and its node ends", arguments: wrongOrders.indices)
  func wrongOrder(index: Int) async throws {
    let (orders, reason) = Self.wrongOrders[index]
    try await FarScene.run { scene in
      let raw = try RawSocket(to: scene.place)
      for order in orders { raw.send(order) }
      try await Self.refused(raw, reason, scene)
      #expect(scene.endedCount == (orders.first == Self.opening ? 1 : 0))
    }
  }

  @Test("an agent refuses a connection that sends no frames, and serves others on")
  func noFrames() async throws {
    try await FarScene.run { scene in
      let raw = try RawSocket(to: scene.place)
      raw.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
      try await Self.refused(raw, "what came is no frame", scene)
      await scene.open()
      _ = try await scene.connect(dialledThere: true)
      #expect(scene.lost == nil)
    }
  }

  @Test("bytes beyond a link's window end the connection; so do more bytes taken than came")
  func window() async throws {
    for order in [AdapterOrder.write(1, Bytes(repeating: 0, count: 40_000)), .taken(1, 1_000_000)] {
      try await FarScene.run { scene in
        await scene.open()
        let raw = try RawSocket(to: scene.place)
        raw.send(Self.opening)
        raw.send(.listen(.tcp))
        try await scene.until("it listens") {
          try? raw.look()
          return raw.reports.count == 2
        }
        guard case .listening(_, let place)? = raw.reports.last else {
          Issue.record("\(raw.reports)")
          return
        }
        let near = try await scene.dial(place.addresses, there: true)
        try await scene.until("it is accepted") {
          try? raw.look()
          return raw.reports.count == 3
        }
        raw.send(order)
        try await Self.refused(
          raw, order == .taken(1, 1_000_000) ? "1000000 bytes taken of 0" : "40000 bytes where", scene, left: 1)
        try await scene.until("its link has ended") { await scene.here.perform { near.end != nil } }
      }
    }
  }

  @Test("a connection that is lost ends its node there, and its links with it")
  func lostThere() async throws {
    try await FarScene.run { scene in
      var raw: RawSocket? = try RawSocket(to: scene.place)
      raw?.send(Self.opening)
      try await scene.until("it is opened") {
        try? raw?.look()
        return raw?.reports.isEmpty == false
      }
      raw = nil
      try await scene.until("its parts are shut down") { scene.endedCount == 1 }
      try await scene.until("it is told") { !scene.lines.isEmpty }
      #expect(scene.lines == ["a connection has ended: the far machine has ended the connection"])
    }
  }

  @Test("more nodes than an agent serves at a time are hung up on")
  func tooMany() async throws {
    try await FarScene.run { scene in
      var all: [RawSocket] = []
      for _ in 0..<AdapterAgent.limit {
        let raw = try RawSocket(to: scene.place)
        raw.send(Self.opening)
        all.append(raw)
      }
      try await scene.until("all are served") { await scene.sessionCount == AdapterAgent.limit }
      let further = try RawSocket(to: scene.place)
      try await scene.until("it is hung up on") {
        try? further.look()
        return further.hasEnded
      }
      #expect(await scene.sessionCount == AdapterAgent.limit)
    }
  }

  private static func refused(_ raw: RawSocket, _ reason: String, _ scene: FarScene, left: Int = 0) async throws {
    try await scene.until("it is refused") {
      try? raw.look()
      return raw.hasEnded
    }
    guard case .refused(let said)? = raw.reports.last else {
      Issue.record("\(raw.reports)")
      return
    }
    #expect(said.contains(reason), "\(said)")
    try await scene.until("its node ends") { await scene.sessionCount == left }
  }
}
