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
    var frames: Messages.AsyncIterator

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
        var attacker = Attacker(
          member: try #require(clientNode.session[serviceNode.id]),
          frames: clientNode.session.messages(in: PiconetActorSystem.channel).makeAsyncIterator())
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
    "what is no frame, or above a limit of the format, ends the attacker's calls and nobody else's",
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

  @Test("a member that calls for long results and reads none ends its calls, and makes nothing pile up without end")
  func unreadResults() async throws {
    var configuration = ActorSystemConfiguration()
    configuration.sizeLimit = 65_536
    try await run(configuration) { attacker, _ in
      // It takes results of 4 MiB, and never reads the channel in which they come.
      try await attacker.send(.hello(.init(instance: 1, limits: .usual, asks: false)))
      // 4 MiB may wait: 13 results; the 100 are 30 MB.
      for number in 1...100 as ClosedRange<UInt64> {
        try await attacker.call(number, "bytes", arguments: [0x81, 0x1A, 0x00, 0x04, 0x93, 0xE0])
      }
      for number in 101...100_000 as ClosedRange<UInt64> {
        try await attacker.call(number, "reset")
        let answer = try await attacker.answer()
        if case .goodbye(let code, let text) = answer {
          #expect(code == .protocolBroken)
          #expect(text.contains("4194304 bytes of long answers wait"))
          return
        }
        guard case .result(number, _) = answer else {
          Issue.record("\(answer) is no answer to call \(number)")
          return
        }
      }
      Issue.record("it is not ended")
    }
  }
}
