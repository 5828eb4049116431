import Testing

@testable import Piconet

@Suite("Waits that end", .timeLimit(.minutes(15)))
struct WaitingTests {
  @Test("waiting for the end of an invitation ends when it is declined here, and when there is no room for it")
  func answered() async throws {
    try await NodePair.run(server: { $0.capacity = 2 }, client: { $0.mode = .peer }) { pair in
      let address = try await pair.address()
      func invited(from node: Node, _ answer: @Sendable (Invitation) async -> Void) async throws -> PiconetError? {
        let inviting = Task { try await node.invite(at: address) }
        let invitation = try #require(await pair.server.invitations.first())
        let ended = Task { await invitation.ended() }
        await answer(invitation)
        let result = try #require(await value(of: ended))
        #expect(result == nil)
        return await failure { try await inviting.value }
      }
      #expect(try await invited(from: pair.client) { await $0.decline() }?.code == .declined)
      try await Host.client { other in
        let inviting = Task { try await other.invite(at: address) }
        let waiting = try #require(await pair.server.invitations.first())
        // Meanwhile another peer takes the only place.
        try await pair.client.setAvailable(true)
        let place = try #require(await pair.client.listeningAddresses.first)
        let taking = Task { try await pair.client.invitations.first()?.accept() }
        _ = try await pair.server.invite(at: [place])
        #expect(try await taking.value != nil)
        let ended = Task { await waiting.ended() }
        #expect(await failure { try await waiting.accept() }?.code == .full)
        let result = try #require(await value(of: ended))
        #expect(result == nil)
        #expect(await failure { try await inviting.value }?.code == .full)
      }
    }
  }

  @Test("a cancelled task waits neither for a ping's answer nor for a transfer, which goes on")
  func cancelled() async throws {
    // Only cancellation ends the wait for a peer that answers nothing.
    try await Host.run({ $0.disconnectTimeout = .seconds(3600) }) { host in
      let raw = try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.join()
        return raw
      }
      // The peer reads nothing from here on.
      let member = try #require(host.node.session.members.first)
      let pinging = Task { await failure { try await host.node.session.ping(member, timeout: .seconds(3600)) } }
      let outgoing = try await member.startSending(.bytes([1], named: "a"))
      let sending = Task { await failure { try await outgoing.result } }
      for _ in 0..<100 { await Task.yield() }
      for task in [pinging, sending] {
        task.cancel()
        let error = await value(of: task)
        #expect(error??.code == .cancelled && error??.blame == .us, "\(String(describing: error))")
      }
      outgoing.cancel()
      #expect(await failure { try await outgoing.result }?.code == .cancelled)
      // More than may be under way at once.
      for _ in 0..<20 {
        let ping = Task { await failure { try await host.node.session.ping(member, timeout: .seconds(3600)) } }
        for _ in 0..<10 { await Task.yield() }
        ping.cancel()
        #expect(await value(of: ping)??.code == .cancelled)
      }
      withExtendedLifetime(raw) {}
    }
    try await NodePair.run { pair in
      let (onClient, _) = try await pair.connect()
      let outgoing = try await onClient.startSending(.bytes([1, 2], named: "a"))
      outgoing.pause()
      let offer = try #require(await pair.server.session.offers.first())
      let incoming = try await offer.startReading(upTo: 2)
      let receiving = Task { await failure { try await incoming.result } }
      receiving.cancel()
      #expect(await value(of: receiving)??.code == .cancelled)
      outgoing.resume()
      #expect(try await incoming.result.bytes == [1, 2])
      #expect(try await outgoing.result.size == 2)
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

  @Test("a message to all that one member takes no more, since too many calls wait for it, is an error that says so")
  func tooManyWait() async throws {
    try await NodePair.run { pair in
      let (onClient, _) = try await pair.connect()
      _ = try onClient.budgets.first.claim(upTo: .max)
      await withTaskGroup(of: PiconetError?.self) { group in
        for _ in 0...65_536 {
          group.addTask { await failure { try await onClient.budgets.first.wait(for: 1) } }
        }
        // All others wait.
        #expect(await group.next()??.code == .limitExceeded)
        let error = await failure { try await pair.client.session.send([1]) }
        #expect(error?.code == .limitExceeded && error?.detail.contains("65536 calls wait") == true)
        group.cancelAll()
      }
    }
  }

  @Test("pausing and going on after the end change nothing")
  func pauseAfterEnd() async throws {
    try await NodePair.run { pair in
      let (onClient, _) = try await pair.connect()
      let outgoing = try await onClient.startSending(.bytes([1, 2], named: "a"))
      let offer = try #require(await pair.server.session.offers.first())
      let incoming = try await offer.startReading(upTo: 2)
      _ = try await incoming.result
      _ = try await outgoing.result
      incoming.pause()
      outgoing.pause()
      #expect(!incoming.progress.isPaused && !outgoing.progress.isPaused)
      #expect(outgoing.progress.stored == 2 && incoming.progress.stored == 2)
    }
  }
}

/// What a task that must end gives; nil if it has not ended before the test is over.
private func value<Value: Sendable>(of task: Task<Value, Never>) async -> Value? {
  let (values, value) = AsyncStream.makeStream(of: Value.self)
  Task {
    value.yield(await task.value)
    value.finish()
  }
  return await values.first()
}
