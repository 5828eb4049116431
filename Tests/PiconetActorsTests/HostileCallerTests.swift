import Foundation
import Piconet
import PiconetActors
import PiconetCalls
import TestSupport
import Testing

/// A member that writes its frames itself, against a service that others use.
@Suite("Hostile callers", .timeLimit(.minutes(10)))
struct HostileCallerTests {
  private struct Attacker {
    let member: Member
    let session: Session
    var frames: Messages.AsyncIterator

    init(_ member: Member, in session: Session) {
      self.member = member
      self.session = session
      frames = session.messages(in: PiconetActorSystem.channel).makeAsyncIterator()
    }

    func longFrames() -> LongFrames {
      LongFrames(messages: session.messages(in: PiconetActorSystem.longChannel).makeAsyncIterator())
    }

    func send(_ frame: CallFrame) async throws { try await member.send(frame.encoded, in: PiconetActorSystem.channel) }

    func call(_ number: UInt64, _ method: String, path: String = "/desk", arguments: [UInt8] = [0x80]) async throws {
      try await send(
        .call(
          .init(
            number: number, path: path, interface: "test.desk", version: 1, method: method, milliseconds: 60_000,
            arguments: arguments[...])))
    }

    /// The next frame that is no greeting.
    mutating func answer() async throws -> CallFrame {
      while let message = await frames.next() {
        let frame = try CallFrame(decoding: message.bytes)
        if case .hello = frame { continue }
        return frame
      }
      throw CancellationError()
    }

    mutating func code(_ number: UInt64) async throws -> CallFailure.Code? {
      guard case .failure(number, let failure) = try await answer() else { return nil }
      return failure.code
    }
  }

  private func run(
    _ configuration: ActorSystemConfiguration = ActorSystemConfiguration(),
    _ body: (inout Attacker, DeskLog) async throws -> Void
  ) async throws {
    try await Pair.nodes { serviceNode, clientNode, _ in
      try await PiconetActorSystem.run(on: serviceNode, configuration) { service in
        let log = DeskLog()
        try service.publish(WorkingDesk(log: log, actorSystem: service), at: "/desk")
        var attacker = Attacker(try #require(clientNode.session[serviceNode.id]), in: clientNode.session)
        try await body(&attacker, log)
        // Whatever it was, the program serves on.
        let desk = try WorkingDesk.resolve(id: RemoteObjectID(serviceNode.id, "/desk"), using: service)
        #expect(try await desk.concatenate("a", "b") == "ab")
      }
    }
  }

  @Test("a flood above the limit is refused call by call, and costs no more than the limit")
  func flood() async throws {
    try await run { attacker, log in
      for number in 1...2_000 as ClosedRange<UInt64> { try await attacker.call(number, "waitForEver") }
      for _ in 0..<(2_000 - 256) {
        guard case .failure(_, let failure) = try await attacker.answer() else {
          Issue.record("it is no refusal")
          return
        }
        #expect(failure.code == .tooManyCalls)
      }
      var waits = log.waits.stream.makeAsyncIterator()
      for _ in 0..<256 { await waits.next() }
    }
  }

  @Test(
    "names of types and functions of the program are names like any other",
    arguments: [
      "secret", "$s18PiconetActorsTests11WorkingDeskC6secretyyYaKFTE", "init", "Swift.String", "concatenate(_:_:)",
    ])
  func privateNames(name: String) async throws {
    try await run { attacker, _ in
      guard CallLimits.isName(name) else {
        try await attacker.call(1, name)
        guard case .goodbye(.protocolBroken, _) = try await attacker.answer() else {
          Issue.record("'\(name)' is taken")
          return
        }
        return
      }
      try await attacker.call(1, name)
      #expect(try await attacker.code(1) == .unknownMethod)
      try await attacker.call(2, "reset", path: "/_/1")
      #expect(try await attacker.code(2) == .noSuchObject)
    }
  }

  @Test("arguments that are too many, too few, of other types, or nested deeply are errors of that call")
  func arguments() async throws {
    try await run { attacker, _ in
      let wrong: [[UInt8]] = [
        [0x80], [0x81, 0x61, 0x61], [0x83, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61], [0x82, 0x61, 0x61, 0x01],
        [0x82, 0x61, 0x61] + [UInt8](repeating: 0x81, count: 29) + [0x00], [0x9F, 0x61, 0x61, 0x61, 0x61, 0xFF],
      ]
      for (number, arguments) in wrong.enumerated() {
        try await attacker.call(UInt64(number), "concatenate", arguments: arguments)
        #expect(try await attacker.code(UInt64(number)) == .wrongArguments, "\(arguments)")
      }
      try await attacker.call(100, "concatenate", arguments: [0x82, 0x61, 0x61, 0x61, 0x62])
      guard case .result(100, let value) = try await attacker.answer() else {
        Issue.record("an honest call is not answered")
        return
      }
      #expect(value.elementsEqual([0x62, 0x61, 0x62]))
    }
  }

  @Test(
    "bytes that are no frame, or above a limit of the format, end the attacker's calls and no others",
    arguments: [
      [], [0xFF], [UInt8](repeating: 0x81, count: 60_000), [UInt8](repeating: 0x9F, count: 60_000),
      [0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], CallFrame.begin(id: 1, total: 1 << 62, [1]).encoded,
      [0x82, 0x00, 0x00],
    ])
  func noFrames(bytes: [UInt8]) async throws {
    try await run { attacker, log in
      try await attacker.call(1, "waitForEver")
      for await _ in log.waits.stream { break }
      try await attacker.member.send(bytes, in: PiconetActorSystem.longChannel)
      guard case .goodbye(.protocolBroken, _) = try await attacker.answer() else {
        Issue.record("it is not told")
        return
      }
      for await _ in log.cancellations.stream { break }
    }
  }

  @Test("a member that asks on and on and reads no answer ends its calls, and costs no memory without end")
  func deaf() async throws {
    try await Pair.nodes { serviceNode, clientNode, _ in
      try await PiconetActorSystem.run(on: serviceNode) { service in
        let events = service.events
        let member = try #require(clientNode.session[serviceNode.id])
        let asking = Task {
          let hello = CallFrame.hello(.init(instance: 1, limits: .usual, asks: false))
          try await member.send(hello.encoded, in: PiconetActorSystem.channel)
          var time: UInt64 = 0
          while !Task.isCancelled {
            time += 1
            let claim = CallFrame.claim(NameClaim("a", time: time, []))
            try await member.send(claim.encoded, in: PiconetActorSystem.channel)
          }
        }
        for await case .lost(_, let error) in events {
          #expect(error.code == .protocolBroken)
          break
        }
        asking.cancel()
        _ = await asking.result
      }
    }
  }

  @Test("long calls that wait until the member takes them end nothing, however much they come to")
  func longCalls() async throws {
    var configuration = ActorSystemConfiguration()
    configuration.sizeLimit = 65_536
    // 4 MiB of long answers may wait at the client; its calls are 20 MB.
    try await Pair.run(client: configuration) { pair in
      let desk = try pair.desk()
      let bytes = [UInt8](repeating: 1, count: 200_000)
      try await withThrowingTaskGroup(of: Int.self) { group in
        try await pair.client.ping(pair.toService)
        for _ in 0..<100 { group.addTask { try await desk.length(of: bytes) } }
        for try await length in group { #expect(length == 200_000) }
      }
    }
  }

  @Test("a member that calls for long results and reads none fills no more than its limit; it is told, and may go on")
  func unreadResults() async throws {
    var configuration = ActorSystemConfiguration()
    configuration.sizeLimit = 65_536
    configuration.resultLimit = 2 * 1_048_576
    try await run(configuration) { attacker, _ in
      // It takes results of 4 MiB, and does not read the channel in which they come.
      try await attacker.send(.hello(.init(instance: 1, limits: .usual, asks: false)))
      let size = CBORValue.array([.unsigned(300_000)]).encoded
      // 30 MB; beside what may wait, there is the window of the channel.
      for number in 1...100 as ClosedRange<UInt64> { try await attacker.call(number, "bytes", arguments: size) }
      var refused: Set<UInt64> = []
      while refused.count < 80 {
        guard case .failure(let number, let failure) = try await attacker.answer() else {
          Issue.record("it is no refusal")
          return
        }
        #expect(failure.code == .tooManyCalls && failure.text.contains("2097152"), "\(failure)")
        refused.insert(number)
      }
      // What waits is whole, and calls are served again as it is read.
      var long = attacker.longFrames()
      var kept: Set<UInt64> = []
      var next: UInt64 = 101
      while kept.max() ?? 0 <= 100 {
        kept.insert(try await long.nextResult(of: 300_000))
        try await attacker.call(next, "bytes", arguments: size)
        next += 1
      }
      #expect(kept.isDisjoint(with: refused))
      #expect(kept.count <= 20, "4 MiB wait, the window of the channel among them, and what is read meanwhile")
    }
  }

  /// The long frames that come to an attacker.
  private struct LongFrames {
    var messages: Messages.AsyncIterator

    /// The number of the next call that has a result.
    mutating func nextResult(of count: Int) async throws -> UInt64 {
      var bytes: [UInt8] = []
      while let message = await messages.next() {
        switch try CallFrame(decoding: message.bytes) {
        case .begin(_, _, let part): bytes = Array(part)
        case .next(_, let part): bytes += part
        default: throw CancellationError()
        }
        guard bytes.count > count else { continue }
        guard case .result(let number, _) = try CallFrame(decoding: bytes[...]) else { break }
        return number
      }
      throw CancellationError()
    }
  }

  /// A service, a member that writes its frames itself, and an honest one with an actor system.
  private func withHonest(
    _ body: (_ service: PiconetActorSystem, DeskLog, inout Attacker, _ honest: PiconetActorSystem, Member) async throws
      -> Void
  ) async throws {
    let session = UUID().uuidString
    try await Pair.nodes(session: session) { serviceNode, hostileNode, _ in
      let address = try #require(await serviceNode.listeningAddresses.first).text
      var configuration = Pair.configuration("Honest", session)
      configuration.mode = .client
      try await Node.run(configuration) { honestNode in
        try await Pair.join(honestNode, serviceNode, at: address)
        try await PiconetActorSystem.run(on: serviceNode) { service in
          let log = DeskLog()
          try service.publish(WorkingDesk(log: log, actorSystem: service), at: "/desk")
          try await PiconetActorSystem.run(on: honestNode) { honest in
            var attacker = Attacker(try #require(hostileNode.session[serviceNode.id]), in: hostileNode.session)
            let toService = try #require(honestNode.session[serviceNode.id])
            try await honest.ping(toService)
            try await body(service, log, &attacker, honest, toService)
          }
        }
      }
    }
  }

  @Test("a member that floods arguments of 4 MiB has those refused that are above 32 MiB; others call as before")
  func argumentFlood() async throws {
    try await withHonest { service, log, attacker, honest, toService in
      let events = service.events
      let size = 4 * 1_048_576 - 200
      let item = CBORValue.array([.bytes([UInt8](repeating: 0, count: size))]).encoded
      for number in 1...20 as ClosedRange<UInt64> {
        let call = CallFrame.call(
          .init(
            number: number, path: "/desk", interface: "test.desk", version: 1, method: "keep", milliseconds: 600_000,
            arguments: item[...]))
        for part in CallFrame.parts(of: call.encoded, id: number, 60_000) {
          try await attacker.member.send(part.encoded, in: PiconetActorSystem.longChannel)
        }
      }
      for number in 9...20 as ClosedRange<UInt64> {
        guard case .failure(number, let failure) = try await attacker.answer() else {
          Issue.record("call \(number) is not refused")
          return
        }
        #expect(failure.code == .tooManyCalls && failure.text.contains("33554432"), "\(failure)")
      }
      var waits = log.waits.stream.makeAsyncIterator()
      for _ in 1...8 { await waits.next() }
      let desk = try honest.object($Desk.self, at: "/desk", of: toService)
      #expect(try await desk.length(of: [UInt8](repeating: 1, count: 1_000_000)) == 1_000_000)
      var refused = 0
      for await case .refused(let call, let error) in events {
        #expect(call.method == "keep" && error.code == .tooManyCalls)
        refused += 1
        if refused == 12 { break }
      }
      // Those that are served end as any other, and make room.
      for number in 1...8 as ClosedRange<UInt64> { try await attacker.send(.cancel(number: number)) }
      for _ in 1...8 { for await _ in log.endings.stream { break } }
      try await attacker.call(21, "length", arguments: CBORValue.array([.bytes([1, 2])]).encoded)
      guard case .result(21, _) = try await attacker.answer() else {
        Issue.record("there is no room")
        return
      }
    }
  }

  @Test("a member that greets on and on as another system ends its calls, and no event of another member is lost")
  func helloFlood() async throws {
    try await withHonest { service, _, attacker, honest, toService in
      let events = service.events
      #expect(try await honest.claim("honest") == .owner)
      for instance in 1...2_000 as ClosedRange<UInt64> {
        try await attacker.send(.hello(.init(instance: instance, limits: .usual, asks: true)))
        try await attacker.send(.claim(NameClaim("hostile", time: 1, [])))
      }
      while true {
        guard case .goodbye(let code, _) = try await attacker.answer() else { continue }
        #expect(code == .protocolBroken)
        break
      }
      honest.release("honest")
      #expect(try await honest.claim("honest") == .owner)
      var owners: [NodeID?] = []
      for await event in events {
        if case .ownerChanged("honest", _, let owner) = event { owners.append(owner) }
        if owners.count == 3 { break }
      }
      #expect(owners == [honest.node.id, nil, honest.node.id])
    }
  }

  @Test("a member that floods signals pushes out its own at a slow reader, and none of another member")
  func signalFlood() async throws {
    try await withHonest { service, _, attacker, honest, toService in
      let told = RemoteSignal<Int>("test.flood", "told")
      let signals = service.signals(told)
      try await attacker.send(.hello(.init(instance: 1, limits: .usual, asks: false)))
      func flood(_ numbers: Range<Int>) async throws {
        for number in numbers {
          let value = CBORValue.unsigned(UInt64(number)).encoded
          try await attacker.send(
            .signal(.init(path: "/", interface: "test.flood", name: "told", value: value[...], isKept: false)))
        }
      }
      for number in 0..<100 {
        try await flood(number * 30..<(number + 1) * 30)
        try await honest.emit(told, 1_000_000 + number)
      }
      // An answer shows that all before it has been read.
      try await attacker.call(1, "reset")
      _ = try await attacker.answer()
      try await honest.ping(toService)
      var ofHonest: [Int] = []
      var ofAttacker: [Int] = []
      for await signal in signals {
        if signal.value >= 1_000_000 { ofHonest.append(signal.value) } else { ofAttacker.append(signal.value) }
        if ofHonest.count == 100, ofAttacker.last == 2_999 { break }
      }
      #expect(ofHonest == Array(1_000_000..<1_000_100))
      #expect(ofAttacker == Array(2_744..<3_000))
    }
  }
}
