import Synchronization
import Testing

@testable import Piconet

@Suite("Files of transfers that are open at once")
struct OpenFilesTests {
  @Test("go by the limit of the process, less what else needs; the first is let in however low that is")
  func budget() {
    var budget = OpenFileBudget()
    let (first, second) = (budget.take(.store, limit: 0), budget.take(.source, limit: 0))
    #expect(first && !second)
    budget.giveBack(.store)
    #expect(budget.inUse == 0)
    var taken = 0
    while budget.take(.source, limit: 32) { taken += 1 }
    #expect(taken == 8)
    budget = OpenFileBudget()
    taken = 0
    while budget.take(.store, limit: 1_024) { taken += 1 }
    #expect(taken == 192)
    // The program has raised it meanwhile.
    let isTaken = budget.take(.source, limit: 4_096)
    #expect(isTaken)
  }

  @Test("wait for one another, in the order in which they came, and leave when their task is cancelled")
  func waiting() async throws {
    let files = OpenFiles { 28 }
    var first = await files.place(for: .store)
    #expect(first != nil)
    let order = Mutex<[Int]>([])
    let cancelled = Task { await files.place(for: .store) }
    cancelled.cancel()
    #expect(await cancelled.value == nil)
    let second = Task {
      let place = await files.place(for: .source)
      order.withLock { $0.append(2) }
      return place
    }
    first = nil
    let place = await second.value
    #expect(place != nil && order.withLock { $0 } == [2])
  }

  @Test("go on without a place when those that have one keep it for too long")
  func patience() async {
    let files = OpenFiles { 28 }
    let first = await files.place(for: .store)
    #expect(await files.place(for: .store, patience: .milliseconds(1)) == nil)
    withExtendedLifetime(first) {}
  }
}
