import Foundation
import Piconet
import PiconetActors
import PiconetEngine
import Synchronization
import TestSupport
import Testing

@testable import PiconetCommandLine

/// Two nodes, each with an adapter of its own, and an IP network within this machine.
@Suite(
  "A session while networks and adapters come and go", .serialized,
  .machine("--adapters 2", alone: true, long: true))
struct ChangingSessionTests {
  private static let network = "session0"
  private static let address = "192.0.2.9"
  private static let kinds = [TransportKind.l2cap, .rfcomm, .le]

  /// How many messages go each way in all: some before the change, the rest after it.
  private static let messages = 400
  private static let messagesBefore = 100
  private static let fileSize = 4_000_000

  @Test(
    "the IP network goes in mid-flow: messages both ways and a file go on over Bluetooth, each once and in order",
    arguments: kinds)
  func networkGoes(kind: TransportKind) async throws {
    try await run(kind) { server, client, addresses, scene in
      let members = try await connect(server, client, addresses)
      #expect(members.map(\.transport) == [.tcp, .tcp])
      try await flow(members, [server, client], scene, over: kind) { try await network("addr del") }
      // Once it is back it is the better way again.
      try await network("addr add")
      #expect(await becomes { members.allSatisfy { $0.transport == .tcp } }, "\(members.map(\.transport))")
    }
  }

  @Test(
    "an adapter is switched off in mid-flow: messages both ways and a file go on over IP, each once and in order",
    arguments: kinds, [WeatherScene.near, WeatherScene.far])
  func adapterGoes(kind: TransportKind, adapter: String) async throws {
    // They stay on Bluetooth although there is IP.
    try await run(kind, { $0.movesBetweenTransports = false }) { server, client, addresses, scene in
      try await network("addr del")
      let members = try await connect(server, client, addresses)
      try await network("addr add")
      #expect(members.map(\.transport) == [kind, kind])
      try await flow(members, [server, client], scene, over: .tcp) { try await Weather.off.begin(at: adapter) }
      try await Weather.off.end(at: adapter)
    }
  }

  @Test(
    "the IP network goes and comes back while a call is under way: each call is served once, over whatever there is",
    arguments: [TransportKind.l2cap, .rfcomm])
  func callsGoOn(kind: TransportKind) async throws {
    try await run(kind) { server, client, addresses, _ in
      let members = try await connect(server, client, addresses)
      #expect(members.map(\.transport) == [.tcp, .tcp])
      try await PiconetActorSystem.run(on: server) { service in
        try service.publish(WorkingLamp(actorSystem: service), at: "/lamp")
        try await PiconetActorSystem.run(on: client) { caller in
          let lamp = try caller.object($Lamp.self, at: "/lamp", of: members[0])
          try await CallDeadline.within(.seconds(120)) {
            let waiting = Task { try await lamp.wait() }
            #expect(try await lamp.brighten(1) == 1)
            try await network("addr del")
            // Sent while there may be no link at all.
            #expect(try await lamp.brighten(1) == 2)
            #expect(await becomes { members.allSatisfy { $0.transport == kind } }, "\(members.map(\.transport))")
            #expect(try await lamp.brighten(1) == 3)
            try await network("addr add")
            #expect(await becomes { members.allSatisfy { $0.transport == .tcp } }, "\(members.map(\.transport))")
            #expect(try await lamp.brighten(1) == 4)
            waiting.cancel()
            await #expect(throws: RemoteCallError.self) { try await waiting.value }
          }
        }
      }
    }
  }

  // MARK: The scene

  private typealias Body = (_ server: Node, _ client: Node, _ addresses: [TransportAddress], _ scene: ToolScene)
    async throws
    -> Void

  private func run(
    _ kind: TransportKind, _ change: (inout NodeConfiguration) -> Void = { _ in }, _ body: Body
  ) async throws {
    try await WeatherScene.run(kind == .le ? .dual : .classic) { scene in
      let added = try await VirtualMachine.shell(
        """
        ip link add \(Self.network) type dummy && ip link set \(Self.network) up multicast on &&
        \(Self.change("addr add"))
        """)
      try #require(added.status == 0, "\(added.output)")
      let result: Result<Void, any Error>
      do {
        result = .success(try await nodes(scene, kind, change, body))
      } catch {
        result = .failure(error)
      }
      try await VirtualMachine.shell("ip link del \(Self.network)")
      try result.get()
    }
  }

  private func nodes(
    _ scene: WeatherScene, _ kind: TransportKind, _ change: (inout NodeConfiguration) -> Void, _ body: Body
  ) async throws {
    func configuration(_ name: String, _ mode: SessionMode, _ adapter: String) -> NodeConfiguration {
      var configuration = NodeConfiguration(sessionID: scene.scene.session, name: name)
      configuration.mode = mode
      configuration.transports = [.tcp, kind]
      configuration.listen = "\(Self.address):0"
      configuration.interfaces = [Self.network]
      configuration.bluetooth.adapter = adapter
      configuration.bluetooth.finder = .daemon
      change(&configuration)
      return configuration
    }
    let adapter = WeatherScene.far
    try await Node.run(configuration("Server", .server, adapter)) { server in
      try await server.setAvailable(true)
      try #require(await becomes { await Set(server.listeningAddresses.map(\.kind)) == [.tcp, kind] })
      // bluetoothd needs a moment before it accepts connections.
      try #require(await VirtualMachine.becomes("hciconfig \(adapter) | grep -q PSCAN"))
      let addresses = await server.listeningAddresses
      try await Node.run(configuration("Client", .client, WeatherScene.near)) { client in
        try await body(server, client, addresses, scene.scene)
      }
    }
  }

  private static func change(_ what: String) -> String { "ip \(what) \(address)/24 dev \(network)" }

  private func network(_ what: String) async throws {
    let result = try await VirtualMachine.shell(Self.change(what))
    try #require(result.status == 0, "\(result.output)")
  }

  private func connect(_ server: Node, _ client: Node, _ addresses: [TransportAddress]) async throws -> [Member] {
    async let accepted: Member? = {
      for await invitation in server.invitations { return try await invitation.accept() }
      return nil
    }()
    let onClient = try await client.invite(at: addresses, timeout: .seconds(30))
    return [onClient, try #require(try await accepted)]
  }

  private func becomes(_ holds: @Sendable () async -> Bool) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(30)
    while !(await holds()) {
      guard ContinuousClock.now < deadline else { return false }
      try? await Task.sleep(for: .milliseconds(20))
    }
    return true
  }

  // MARK: What flows

  /// Sends messages both ways and a file from the first member's node to the second's, and lets the change happen once
  /// a part of each has come.
  private func flow(
    _ members: [Member], _ nodes: [Node], _ scene: ToolScene, over kind: TransportKind,
    change: () async throws -> Void
  ) async throws {
    let photo = try scene.photo("a.bin", size: Self.fileSize)
    let changed = [AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self)]
    let sending = zip(members, changed).map { member, changed in
      Task {
        for number in 0..<Self.messages {
          if number == Self.messagesBefore * 2 { for await _ in changed.stream { break } }
          try await member.send(numbered(number))
        }
      }
    }
    // The first member is the client's: what it sends is read on the server.
    let came = Counts()
    let reading = nodes.enumerated().map { place, node in
      Task {
        var wrong: [Int] = []
        for await message in node.session.messages {
          let number = came.all[place]
          if Array(message.bytes) != numbered(number) { wrong.append(number) }
          came.add(place)
          if number + 1 == Self.messages { break }
        }
        return wrong
      }
    }
    let sendingFile = Task { try await members[0].send(.file(photo)) }
    let offer: IncomingOffer? = await limited(to: .seconds(30)) {
      for await offer in nodes[0].session.offers { return offer }
      return nil
    }
    let directory = try await nodes[0].receivingDirectory(at: scene.into)
    let storing = try await #require(offer).startStoring(in: directory)

    for await progress in storing.changes where progress.stored > 0 { break }
    // TCP would bring all of it before the change.
    storing.pause()
    #expect(await becomes { came.all.allSatisfy { $0 >= Self.messagesBefore } }, "\(came.all)")
    try await change()
    #expect(storing.progress.stored < UInt64(Self.fileSize), "the file was there before the change")
    storing.resume()
    for one in changed { one.continuation.yield() }

    #expect(await becomes { members.allSatisfy { $0.transport == kind } }, "\(members.map(\.transport))")
    for task in sending { try await task.value }
    for task in reading { #expect(await task.value == []) }
    let (sent, received) = (try await sendingFile.value, try await storing.result)
    #expect(sent.digest == received.digest)
    #expect(try scene.isSame(photo, received.path))
    #expect(try scene.received() == ["a.bin"])
    // Both nodes still have their member, and received only what was sent.
    #expect(nodes.map { $0.session.members.count } == [1, 1])
    #expect(came.all == [Self.messages, Self.messages])
  }

  /// How many messages have come, at the server and at the client.
  private final class Counts: Sendable {
    private let counts = Mutex([0, 0])
    var all: [Int] { counts.withLock { $0 } }
    func add(_ place: Int) { counts.withLock { $0[place] += 1 } }
  }

  /// Bytes that show their number.
  private func numbered(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 300)
      + [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
  }
}
