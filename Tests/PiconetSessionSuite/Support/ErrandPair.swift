import Piconet
import PiconetActors
import Testing

/// Two members with an actor system each, and what calls and the rest of them have to do over whatever link there is.
struct ErrandPair: Sendable {
  let service: PiconetActorSystem
  let client: PiconetActorSystem
  /// The service, as the client's member, and the other way round.
  let toService: Member
  let toClient: Member
  let errand: $Errand
  private let log: ErrandLog

  private static let changed = RemoteSignal<Int>("suite.errand", "changed")
  private static let state = RemoteSignal<String>("suite.errand", "state")

  /// - Parameters:
  ///   - onClient: the service, as the client's member.
  ///   - onServer: the client, as the service's.
  static func run(
    _ onClient: Member, of clientNode: Node, _ onServer: Member, of serviceNode: Node,
    _ body: (ErrandPair) async throws -> Void
  ) async throws {
    try await PiconetActorSystem.run(on: serviceNode) { service in
      let log = ErrandLog()
      try service.publish(Errands(log: log, actorSystem: service), at: "/errand")
      try await PiconetActorSystem.run(on: clientNode) { client in
        try await body(
          ErrandPair(
            service: service, client: client, toService: onClient, toClient: onServer,
            errand: try client.object($Errand.self, at: "/errand", of: onClient), log: log))
      }
    }
  }

  func code<Value>(_ call: () async throws -> Value) async -> RemoteCallError.Code? {
    do {
      _ = try await call()
      return nil
    } catch {
      return (error as? RemoteCallError)?.code
    }
  }

  /// A call that the service has begun to serve, and that it answers when it has leave.
  func heldCall() async -> Task<Int, any Error> {
    let call = Task { try await errand.waitForLeave() }
    for await _ in log.waits.stream { break }
    return call
  }

  /// Lets the service answer the call that is held.
  func giveLeave(with number: Int) { log.leave.continuation.yield(number) }

  /// A call that the service has begun to serve, and that ends only when it is cancelled.
  func waitingCall() async -> Task<RemoteCallError.Code?, Never> {
    let call = Task { await code { try await errand.waitForEver() } }
    for await _ in log.waits.stream { break }
    return call
  }

  func untilServiceIsCancelled() async { for await _ in log.cancellations.stream { break } }

  /// - Parameter size: of a long argument and a long result.
  func calls(size: Int) async throws {
    #expect(try await errand.join("Code ", "Monkies!!!!!!!") == "Code Monkies!!!!!!!")
    await #expect(throws: ErrandFailure.closed(until: 9)) { try await errand.fail() }
    let bytes = randomBytes(size)
    let long = Task { try await errand.reversed(bytes) }
    #expect(try await errand.join("a", "b") == "ab")
    #expect(try await long.value == bytes.reversed())
    let call = await waitingCall()
    call.cancel()
    #expect(await call.value == .cancelled)
    await untilServiceIsCancelled()
    #expect(
      await code { try await CallDeadline.within(.milliseconds(10)) { try await errand.waitForEver() } } == .timedOut)
    await untilServiceIsCancelled()
  }

  func signals() async throws {
    try await service.ping(toClient)
    var changes = client.signals(Self.changed).makeAsyncIterator()
    try await service.emit(Self.changed, 1, from: "/errand")
    try await service.emit(Self.changed, 2, from: "/errand", to: .member(toClient))
    for number in 1...2 {
      let change = await changes.next()
      #expect(change?.value == number && change?.path == "/errand" && change?.sender == toService)
    }
    try service.set(Self.state, "open", of: "/errand")
    var states = client.values(of: Self.state, at: "/errand", of: toService).makeAsyncIterator()
    #expect(await states.next() == "open")
    try service.set(Self.state, "closed", of: "/errand")
    #expect(await states.next() == "closed")
    #expect(client.value(of: Self.state, at: "/errand", of: toService) == "closed")
  }

  /// - Parameter patience: for an answer that comes in any case.
  func namesAndPresence(patience: Duration) async throws {
    var owners = client.events.makeAsyncIterator()
    #expect(try await service.claim("suite.errands", .allowsReplacement) == .owner)
    #expect(try await client.claim("suite.errands") == .taken(by: service.node.id))
    try await client.ping(.owner(of: "suite.errands", path: "/errand"), within: patience)
    #expect(try await client.claim("suite.errands", [.replacesExisting]) == .owner)
    var owner: NodeID?
    while owner != client.node.id, let event = await owners.next() {
      if case .ownerChanged("suite.errands", _, let next) = event { owner = next }
    }
    #expect(owner == client.node.id)
    // Its claim was heard before it returned.
    #expect(service.owner(of: "suite.errands") == client.node.id)

    let objects = try await client.objects(of: toService, under: "/errand")
    #expect(objects.map(\.path) == ["/errand"] && objects.first?.interface.version == 2)
    let methods = objects.first?.interface.methods.map(\.name)
    #expect(methods == ["join", "reversed", "fail", "waitForEver", "waitForLeave"])
    #expect(objects.first?.interface.methods[1].since == 2)

    let errand = PingTarget.object(RemoteObjectID(toService.id, "/errand"))
    var presence = try client.presence(of: errand, every: .milliseconds(10), within: patience).makeAsyncIterator()
    guard case .present? = await presence.next()?.presence else {
      Issue.record("it is not present")
      return
    }
    service.unpublish("/errand")
    guard case .absent(let error)? = await presence.next()?.presence else {
      Issue.record("it is not absent")
      return
    }
    #expect(error.code == .noSuchObject)
    #expect(await code { try await self.errand.join("a", "b") } == .noSuchObject)
  }
}
