import Testing

@testable import Piconet

@Suite("Waits that end", .timeLimit(.minutes(1)))
struct WaitingTests {
  @Test("waiting for the end of an invitation ends when it is declined here, and when there is no room for it")
  func answered() async throws {
    try await NodePair.run(server: { $0.capacity = 2 }) { pair in
      let address = try await pair.address()
      func invited(from node: Node, _ answer: @Sendable (Invitation) async -> Void) async throws -> PiconetError? {
        let inviting = Task { try await node.connect(to: address) }
        let invitation = try #require(await pair.server.invitations.first())
        let ended = Task { await invitation.ended() }
        await answer(invitation)
        let result = try #require(await value(of: ended))
        #expect(result == nil)
        return await failure { try await inviting.value }
      }
      #expect(try await invited(from: pair.client) { await $0.decline() }?.code == .declined)
      try await Host.client { other in
        let inviting = Task { try await other.connect(to: address) }
        let waiting = try #require(await pair.server.invitations.first())
        #expect(try await invited(from: pair.client) { _ = try? await $0.accept() } == nil)
        let ended = Task { await waiting.ended() }
        #expect(await failure { try await waiting.accept() }?.code == .full)
        let result = try #require(await value(of: ended))
        #expect(result == nil)
        #expect(await failure { try await inviting.value }?.code == .full)
      }
    }
  }

  @Test("a writer that waits for the reader of a stream without a byte is told when that is dropped unread")
  func droppedEmptyStream() async throws {
    try await NodePair.run { pair in
      let (onClient, _) = try await pair.connect()
      let stream = try await onClient.openStream(named: "empty")
      let finishing = Task { await failure { try await stream.finish() } }
      var incoming = await pair.server.session.streams.first()
      while incoming?.buffer.isFinished == false { await Task.yield() }
      incoming = nil
      let error = await value(of: finishing)
      #expect(error??.code == .cancelled && error??.blame == .peer, "\(String(describing: error))")
    }
  }
}

/// What a task that has to end gives; nil if it does not before the test is over.
private func value<Value: Sendable>(of task: Task<Value, Never>) async -> Value? {
  let (values, value) = AsyncStream.makeStream(of: Value.self)
  Task {
    value.yield(await task.value)
    value.finish()
  }
  return await values.first()
}
