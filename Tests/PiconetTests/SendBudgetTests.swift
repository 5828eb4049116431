import Testing

@testable import Piconet

@Suite("What may be queued to a member", .timeLimit(.minutes(15)))
struct SendBudgetTests {
  private let budget = SendBudget(limit: 10, waitingLimit: 2)

  private func isTaken(_ cost: Int) -> Bool { if case .taken = budget.claim(cost, .reliable) { true } else { false } }

  @Test("senders that wait get room in their order, a large one before a small one that came later")
  func order() async throws {
    #expect(isTaken(10))
    let large = Task { await failure { try await budget.wait(for: 8) } }
    while budget.waitingCount < 1 { await Task.yield() }
    let small = Task { await failure { try await budget.wait(for: 1) } }
    while budget.waitingCount < 2 { await Task.yield() }
    budget.giveBack(7)
    #expect(budget.waitingCount == 2)
    #expect(!isTaken(1), "nobody gets past those who wait")
    budget.giveBack(2)
    #expect(await large.value == nil)
    #expect(await small.value == nil)
    #expect(!isTaken(1), "all of it is taken")
  }

  @Test("more senders than may wait are told so, with the number; those who wait get why it ends")
  func limit() async throws {
    #expect(isTaken(10))
    let waiting = (0..<2).map { _ in Task { await failure { try await budget.wait(for: 1) } } }
    while budget.waitingCount < 2 { await Task.yield() }
    let refused = await failure { try await budget.wait(for: 1) }
    #expect(refused?.code == .limitExceeded)
    #expect(refused?.detail.contains("2 calls") == true)
    budget.end(PiconetError(.left, blame: .peer))
    for task in waiting { #expect(await task.value?.code == .left) }
  }
}
