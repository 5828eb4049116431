import Foundation
import PiconetEngine
import Synchronization
import TestSupport
import Testing

@testable import Piconet

#if Bluetooth
  import FarAdapter
  import PiconetSDP
#endif

/// The world of one test: a session of its own over one transport.
final class SuiteWorld: Sendable {
  struct Failure: Error, CustomStringConvertible { let description: String }

  let transport: SuiteTransport
  /// Each test has its own, so that nothing of another test is in sight.
  let session = "suite-\(UUID().uuidString)"
  let memory: MemoryMedium?
  let far: FarMedium
  private let relays = Mutex<[Relay]>([])
  private let isAtRadioPace = Atomic(false)

  private init(_ transport: SuiteTransport, lost: @escaping @Sendable () -> Void) {
    self.transport = transport
    far = FarMedium(lost: lost)
    switch transport.medium {
    case .memory(packets: true):
      memory = MemoryMedium(MemoryWire.Shape(isPacket: true, largestWrite: 1017, room: 16 << 10))
    case .memory(packets: false): memory = MemoryMedium(MemoryWire.Shape())
    case .loopback, .bluetooth: memory = nil
    }
  }

  /// Runs a test with a time limit: when that is over, what still runs is cancelled, and the test has failed.
  /// - Parameter limit: for a test that needs more than the transport's time for a test.
  static func run<Value: Sendable>(
    _ transport: SuiteTransport, limit: Duration? = nil, _ body: @escaping @Sendable (SuiteWorld) async throws -> Value
  ) async throws -> Value {
    let running = Mutex<Task<Value, any Error>?>(nil)
    // Without its far machine a test means nothing.
    let world = SuiteWorld(transport) { running.withLock { $0?.cancel() } }
    let test = Task { try await body(world) }
    running.withLock { $0 = test }
    if world.far.loss != nil { test.cancel() }
    let watchdog = Task {
      let limit = limit ?? transport.testLimit
      try await Task.sleep(for: limit)
      Issue.record("the test is not over after \(limit), and was cancelled")
      test.cancel()
    }
    defer { watchdog.cancel() }
    let result = await withTaskCancellationHandler {
      await test.result
    } onCancel: {
      test.cancel()
    }
    do {
      try await world.end()
    } catch {
      if case .success = result { throw error }
    }
    if let loss = world.far.loss { throw Failure(description: loss.description) }
    return try result.get()
  }

  private func end() async throws {
    for relay in relays.withLock({ $0 }) { relay.close() }
    if transport.usesBluetooth, transport.missingFaults == nil { try await fault("unmute") }
    if isAtRadioPace.load(ordering: .relaxed) { try setPackets("slots 0") }
  }

  // MARK: Nodes

  /// - Parameter place: the adapter's number; each node of a test has its own.
  func configuration(_ place: Int, _ name: String) -> NodeConfiguration {
    var configuration = NodeConfiguration(sessionID: session, name: name)
    configuration.transports = [transport.kind]
    configuration.patience.handshake = transport.patience
    configuration.patience.leave = transport.usesBluetooth ? .seconds(20) : .seconds(5)
    switch transport.medium {
    case .memory: configuration.additional = memory?.parts
    case .loopback:
      configuration.listen = "127.0.0.1:0"
      configuration.interfaces = ["lo"]
    case .bluetooth(let places):
      switch places[place % places.count] {
      case .here(let adapter): configuration.bluetooth.adapter = adapter
      case .far(let agent):
        configuration.additional = { [far, session, kind = transport.kind] loop in
          far.parts(at: agent, kind: kind, session: session, loop: loop)
        }
      }
    }
    return configuration
  }

  /// A node for as long as `body` runs.
  func node<Value>(
    _ place: Int, _ name: String, _ change: (inout NodeConfiguration) -> Void = { _ in },
    _ body: (Node) async throws -> Value
  ) async throws -> Value {
    var configuration = configuration(place, name)
    change(&configuration)
    return try await Node.run(configuration, body)
  }

  /// A server that is available, and a client that is not.
  func pair<Value>(
    server change: (inout NodeConfiguration) -> Void = { _ in },
    client clientChange: (inout NodeConfiguration) -> Void = { _ in },
    _ body: (SuitePair) async throws -> Value
  ) async throws -> Value {
    try await node(0, "Server", change) { server in
      try await server.setAvailable(true)
      return try await node(1, "Client", clientChange) { client in
        try await body(SuitePair(world: self, server: server, client: client))
      }
    }
  }

  /// Where others dial a node that is available.
  func addresses(of node: Node) async throws -> [TransportAddress] {
    var addresses: [TransportAddress] = []
    try await until("the node listens") {
      addresses = await node.listeningAddresses.filter { $0.kind == transport.kind }
      return !addresses.isEmpty
    }
    try await untilAnswered(addresses)
    return addresses
  }

  /// Waits until the adapter that listens there answers dials.
  func untilAnswered(_ addresses: [TransportAddress]) async throws {
    // bluetoothd may be about to take back what the node before has left, so the state has to last.
    var looks = 0
    try await until("its adapter answers to paging") {
      looks = await answersPaging(addresses) ? looks + 1 : 0
      return looks >= (transport.usesBluetooth ? 20 : 1)
    }
  }

  /// As above; links to this address can be silenced and cut.
  func breakableAddresses(of node: Node) async throws -> [TransportAddress] {
    let addresses = try await addresses(of: node)
    guard transport.kind == .tcp else { return addresses }
    let port = try #require(addresses[0].text.split(separator: ":").last.flatMap { UInt16($0) })
    let relay = try Relay(to: port)
    relays.withLock { $0.append(relay) }
    return [TransportAddress(kind: .tcp, text: relay.address)]
  }

  /// Whether the adapter answers BR/EDR's paging. It does once bluetoothd has made it discoverable, which takes a
  /// moment; an adapter that is paged before is unreachable.
  func answersPaging(_ addresses: [TransportAddress]) async -> Bool {
    #if Bluetooth
      guard transport.kind == .l2cap || transport.kind == .rfcomm else { return true }
      if let answer = await far.answersPaging(addresses) { return answer }
      return addresses.contains { address in
        BluetoothPlace(address.text).map { PageScan.isOn(adapter: $0.device) } ?? false
      }
    #else
      return true
    #endif
  }

  // MARK: Faults

  /// Silences all links without telling either side.
  func silence() async throws {
    memory?.setSilent(true)
    for relay in relays.withLock({ $0 }) { relay.setSilent(true) }
    if transport.usesBluetooth { try await fault("mute") }
  }

  /// Ends the silence: what waited gets through.
  func endSilence() async throws {
    memory?.setSilent(false)
    for relay in relays.withLock({ $0 }) { relay.setSilent(false) }
    if transport.usesBluetooth { try await fault("unmute") }
    if isAtRadioPace.load(ordering: .relaxed) { try setPackets("slots 0") }
  }

  /// Both ends of all links are told that they are lost.
  func cut() async throws {
    memory?.cut()
    for relay in relays.withLock({ $0 }) { relay.cut() }
    if transport.usesBluetooth { try await fault("cut") }
  }

  /// Makes a fault between the adapters of the first two nodes.
  private func fault(_ what: String) async throws {
    guard let place = SuiteTransport.faultSocket else { return }
    let numbers = SuiteTransport.adapters.prefix(2).map { $0.filter(\.isNumber) }.joined(separator: " ")
    try FaultSocket.ask(place, "\(what) \(numbers)")
  }

  /// Until the end of the test each packet of BR/EDR takes a radio's time on the emulated air.
  func goAtRadioPace() throws {
    try setPackets("slots 1")
    isAtRadioPace.store(true, ordering: .relaxed)
  }

  private func setPackets(_ what: String) throws {
    if let place = SuiteTransport.faultSocket { try FaultSocket.ask(place, what) }
  }

  // MARK: Waiting

  /// Gives what `body` gives, and fails if that takes longer than the transport's patience.
  func within<Value: Sendable>(
    _ what: String, patience: Duration? = nil, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let patience = patience ?? transport.patience
    return try await withThrowingTaskGroup(of: Value.self) { group in
      group.addTask(operation: body)
      group.addTask {
        try await Task.sleep(for: patience)
        throw Failure(description: "in \(patience) it is not so: \(what)")
      }
      defer { group.cancelAll() }
      guard let value = try await group.next() else { throw Failure(description: what) }
      return value
    }
  }

  /// Looks again and again until this holds, and fails if that takes longer than the transport's patience.
  func until(_ what: String, _ holds: () async -> Bool) async throws { try await transport.until(what, holds) }
}

/// Two nodes of one world.
struct SuitePair: Sendable {
  let world: SuiteWorld
  let server: Node
  let client: Node

  func addresses() async throws -> [TransportAddress] { try await world.addresses(of: server) }

  /// The server's next invitation. Throws the error of the attempt that should bring it, if that fails first.
  func invitation(of inviting: Task<Member, any Error>? = nil) async throws -> Invitation {
    let server = server
    let waiting = Task { await server.invitations.first() }
    // Not in a group: that would wait for the attempt as well, which goes on.
    let watching = Task {
      do {
        _ = try await inviting?.value
      } catch {
        waiting.cancel()
        throw error
      }
    }
    let invitation = try await world.within("an invitation comes") {
      await withTaskCancellationHandler {
        await waiting.value
      } onCancel: {
        waiting.cancel()
      }
    }
    if let invitation { return invitation }
    try await watching.value
    throw SuiteWorld.Failure(description: "no invitation came")
  }

  /// The client invites, and waits for the answer.
  func invite(
    timeout: Duration? = nil, context: [UInt8] = [], expecting: PeerID? = nil
  ) async throws -> Member {
    try await client.invite(
      at: addresses(), expecting: expecting, context: context, timeout: timeout ?? world.transport.patience)
  }

  /// Connects them: the client invites, the server accepts.
  func connect(breakable: Bool = false) async throws -> (onClient: Member, onServer: Member) {
    async let accepted = server.invitations.first()?.accept()
    let addresses = breakable ? try await world.breakableAddresses(of: server) : try await addresses()
    let onClient = try await client.invite(at: addresses, timeout: world.transport.patience)
    return (onClient, try #require(try await accepted))
  }

  /// As `connect(breakable: true)`, after a link was lost: an attempt may be refused until the two hosts agree that it
  /// is gone.
  func connectAgain() async throws -> (onClient: Member, onServer: Member) {
    var members: (Member, Member)?
    var error: (any Error)?
    do {
      try await world.until("they connect again") {
        do {
          members = try await connect(breakable: true)
        } catch let failure {
          error = failure
        }
        return members != nil
      }
    } catch let failure {
      throw SuiteWorld.Failure(description: "\(failure); the last attempt: \(error.map { "\($0)" } ?? "none")")
    }
    return try #require(members)
  }
}

extension SuiteTransport {
  /// As `SuiteWorld.until`, without a world.
  func until(_ what: String, _ holds: () async -> Bool) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + patience
    while !(await holds()) {
      guard clock.now < deadline else { throw SuiteWorld.Failure(description: "in \(patience) it is not so: \(what)") }
      try await Task.sleep(for: glance)
    }
  }
}
