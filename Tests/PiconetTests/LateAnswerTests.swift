import Dispatch
import Piconet
import Synchronization
import Testing

@Suite("A member that has sent and left before the task that asked for it runs again", .timeLimit(.minutes(15)))
struct LateAnswerTests {
  /// Runs the first job, which is a task up to its first wait; all others are held until `release`.
  private final class HeldExecutor: TaskExecutor {
    private let held = Mutex<(begun: Bool, jobs: [UnownedJob]?)>((false, []))

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let runs = held.withLock { held -> Bool in
        defer { held.begun = true }
        if !held.begun || held.jobs == nil { return true }
        held.jobs?.append(job)
        return false
      }
      if runs { run(job) }
    }

    private func run(_ job: UnownedJob) {
      DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    func release() {
      let jobs = held.withLock { held in
        defer { held.jobs = nil }
        return held.jobs ?? []
      }
      for job in jobs { run(job) }
    }
  }

  private func expect(_ member: Member, of node: Node) async {
    #expect(node.session[member.id] == nil && member.transport == nil)
    #expect(await failure { try await member.send([1]) }?.code == .left)
    var words: [String] = []
    for await event in node.session.events {
      switch event {
      case .joined(member): words.append("joined")
      case .message(let message): words.append("\(Array(message.bytes))")
      case .left(member, let error): words.append("\(error.code)")
      default: words.append("\(event)")
      }
      if words.count == 3 { break }
    }
    #expect(words == ["joined", "[7]", "left"])
  }

  private func goes(_ member: Member) async throws {
    try await member.send([7])
    await member.disconnect()
  }

  @Test("is given to who accepted it, with its messages and its end")
  func accepted() async throws {
    try await NodePair.run { pair in
      let executor = HeldExecutor()
      let inviting = Task { try await pair.client.invite(at: pair.address()) }
      let invitation = try #require(await pair.server.invitations.first())
      let accepting = Task(executorPreference: executor) { try await invitation.accept() }
      try await goes(inviting.value)
      while !pair.server.session.members.isEmpty { await Task.yield() }
      executor.release()
      await expect(try await accepting.value, of: pair.server)
    }
  }

  @Test("is given to who invited it, with its messages and its end")
  func invited() async throws {
    try await NodePair.run { pair in
      let executor = HeldExecutor()
      let address = try await pair.address()
      let inviting = Task(executorPreference: executor) { try await pair.client.invite(at: address) }
      let invitation = try #require(await pair.server.invitations.first())
      try await goes(invitation.accept())
      while !pair.client.session.members.isEmpty { await Task.yield() }
      executor.release()
      await expect(try await inviting.value, of: pair.client)
    }
  }
}
