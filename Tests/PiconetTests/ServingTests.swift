import TestSupport
import Testing

@testable import Piconet

@Suite("A node that serves", .timeLimit(.minutes(15)))
struct ServingTests {
  @Test("ends in good order and without an error when its task is cancelled, and leaves nothing")
  func cancelled() async throws {
    try await inOwnProcess {
      let before = descriptorCount()
      try await serveAMember()
      try expectNothingLeft(since: before)
    }
  }

  @Test("ends when it is stopped elsewhere, and at once where its task is cancelled before")
  func stopped() async throws {
    let node = try await Node(Host.configuration())
    let serving = Task { try await node.serve() }
    while !node.isAvailable { await Task.yield() }
    await node.stop()
    try await serving.value
    let other = try await Node(Host.configuration())
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await other.serve()
    }
    try await cancelled.value
    #expect(await failure { try await other.setAvailable(true) }?.code == .shuttingDown)
  }

  @Test("says why it can't listen, and has ended then")
  func canNotListen() async throws {
    try await Host.run { host in
      var configuration = Host.configuration("Second")
      configuration.listen = host.address
      let node = try await Node(configuration)
      let error = await failure { try await node.serve() }
      #expect(error?.detail.contains("can't listen") == true, "\(String(describing: error))")
      #expect(await failure { try await node.setAvailable(true) }?.code == .shuttingDown)
    }
  }
}

/// A node serves until it has had a member, which learns that it has left; then its task is cancelled.
private func serveAMember() async throws {
  let node = try await Node(Host.configuration())
  let serving = Task { try await node.serve() }
  while !node.isAvailable { await Task.yield() }
  let accepting = Task { for await invitation in node.invitations { _ = try await invitation.accept() } }
  try await Host.client { client in
    let address = try #require(await node.listeningAddresses.first).text
    let member = try await client.invite(at: address)
    serving.cancel()
    try await serving.value
    for await case .left(let former, let error) in client.session.membership {
      #expect(former == member && error.code == .shuttingDown)
      break
    }
  }
  _ = await accepting.result
}
