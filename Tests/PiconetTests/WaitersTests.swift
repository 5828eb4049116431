import Synchronization
import Testing

@testable import Piconet

@Suite("Tasks that wait for a state to have an answer", .timeLimit(.minutes(15)))
struct WaitersTests {
  private let shelf = Shelf()

  @Test("an item that is there is taken at once, and no task waits")
  func atOnce() async {
    shelf.put(1, 2)
    #expect(await shelf.take() == .item(1))
    #expect(await shelf.take() == .item(2))
    #expect(shelf.waitingCount == 0)
  }

  @Test("a task that waits is told as soon as there is something for it")
  func told() async {
    let taking = Task { await shelf.take() }
    await shelf.until(1)
    shelf.put(7)
    #expect(await taking.value == .item(7))
    #expect(shelf.waitingCount == 0)
  }

  @Test("those who wait are served in the order in which they came")
  func order() async {
    var takings: [Task<Shelf.Answer, Never>] = []
    for count in 1...5 {
      takings.append(Task { await shelf.take() })
      await shelf.until(count)
    }
    shelf.put(1, 2)
    shelf.put(3)
    shelf.put(4, 5)
    for (index, taking) in takings.enumerated() { #expect(await taking.value == .item(index + 1)) }
  }

  @Test("a task that needs more holds back a later one that needs less, or the first would wait for ever")
  func needs() async {
    let large = Task { await shelf.take(atLeast: 3) }
    await shelf.until(1)
    let small = Task { await shelf.take(atLeast: 1) }
    await shelf.until(2)
    shelf.put(1, 2)
    #expect(shelf.waitingCount == 2)
    // Nor does a newcomer get past them.
    let late = Task { await shelf.take(atLeast: 1) }
    await shelf.until(3)
    shelf.put(3, 4, 5)
    #expect(await large.value == .item(3))
    #expect(await small.value == .item(4))
    #expect(await late.value == .item(5))
  }

  @Test("a task that is cancelled waits no longer, and takes nothing that another task could have")
  func cancelled() async {
    let first = Task { await shelf.take() }
    await shelf.until(1)
    let second = Task { await shelf.take() }
    await shelf.until(2)
    first.cancel()
    #expect(await first.value == .cancelled)
    #expect(shelf.waitingCount == 1)
    shelf.put(1)
    #expect(await second.value == .item(1))
  }

  @Test("a task that was cancelled before does not wait, and takes no item even if there is one")
  func cancelledBefore() async {
    shelf.put(1)
    let taking = Task {
      while !Task.isCancelled { await Task.yield() }
      return await shelf.take()
    }
    taking.cancel()
    #expect(await taking.value == .cancelled)
    #expect(shelf.waitingCount == 0)
    #expect(await shelf.take() == .item(1))
  }

  @Test("where cancellation has no answer, a cancelled task goes on waiting")
  func cancelledInVain() async {
    let taking = Task { await shelf.takeWhateverHappens() }
    await shelf.until(1)
    taking.cancel()
    #expect(shelf.waitingCount == 1)
    shelf.put(1)
    #expect(await taking.value == .item(1))
  }

  @Test("once it is closed those who wait, and those who come later, get the reason, after what is left")
  func closed() async {
    let waiting = [Task { await shelf.take() }, Task { await shelf.take() }]
    await shelf.until(2)
    shelf.close("the shop is shut")
    for task in waiting { #expect(await task.value == .closed("the shop is shut")) }
    #expect(await shelf.take() == .closed("the shop is shut"))
    shelf.put(1)
    #expect(await shelf.take() == .item(1))
    #expect(await shelf.take() == .closed("the shop is shut"))
  }

  @Test("no more wait than the limit: the next is told so at once, and has its turn when one has gone")
  func limit() async {
    var takings: [Task<Shelf.Answer, Never>] = []
    for count in 1...Shelf.limit {
      takings.append(Task { await shelf.take() })
      await shelf.until(count)
    }
    #expect(await shelf.take() == .full)
    #expect(shelf.waitingCount == Shelf.limit)
    takings[0].cancel()
    #expect(await takings.removeFirst().value == .cancelled)
    takings.append(Task { await shelf.take() })
    await shelf.until(Shelf.limit)
    shelf.close("enough")
    for taking in takings { #expect(await taking.value == .closed("enough")) }
  }

  @Test("where no task takes anything from another, one that has to wait holds no other back")
  func withoutTurns() async {
    let tide = Tide()
    await withTaskGroup(of: Int.self) { group in
      for height in [3, 1, 2] {
        group.addTask {
          await tide.reaches(height)
          return height
        }
      }
      while tide.waitingCount < 3 { await Task.yield() }
      for height in 1...3 {
        tide.rise(to: height)
        #expect(await group.next() == height)
      }
    }
  }

  @Test("of many takers on many threads, some of them cancelled, each thing goes to exactly one")
  func crowd() async {
    let taken = await withTaskGroup(of: Shelf.Answer.self) { group in
      let shelf = Shelf(limit: .max)
      let takers = (0..<400).map { _ in Task { await shelf.take() } }
      for (index, taker) in takers.enumerated() {
        group.addTask { await taker.value }
        if index % 3 == 0 {
          group.addTask {
            taker.cancel(); return .cancelled
          }
        }
        group.addTask {
          shelf.put(index); return .cancelled
        }
      }
      var taken: [Int] = []
      for await answer in group { if case .item(let item) = answer { taken.append(item) } }
      // What the cancelled ones have not taken is still there.
      shelf.close("")
      while case .item(let item) = await shelf.take() { taken.append(item) }
      return taken
    }
    #expect(taken.sorted() == Array(0..<400))
  }
}

/// Numbers that tasks wait for.
private final class Shelf: Sendable {
  enum Answer: Sendable, Equatable {
    case item(Int)
    case cancelled
    case closed(String)
    case full
  }

  private struct State: AwaitedState {
    var items: [Int] = []
    var reason: String?
    var waiters: Waiters<Int, Answer>

    /// Takes the item at this place and all before it.
    mutating func answer(to count: Int) -> Answer? {
      guard items.count >= count else { return reason.map { .closed($0) } }
      defer { items.removeFirst(count) }
      return .item(items[count - 1])
    }
  }

  static let limit = 6
  private let state: Mutex<State>

  init(limit: Int = Shelf.limit) { state = Mutex(State(waiters: Waiters(limit: limit, refusal: .full))) }

  var waitingCount: Int { state.withLock { $0.waiters.count } }

  func put(_ items: Int...) { state.change { $0.items += items } }

  func close(_ reason: String) { state.change { $0.reason = reason } }

  func take(atLeast count: Int = 1) async -> Answer { await state.wait(for: count, ifCancelled: .cancelled) }

  func takeWhateverHappens() async -> Answer { await state.wait(for: 1, ifCancelled: nil) }

  func until(_ count: Int) async { while waitingCount != count { await Task.yield() } }
}

/// A height that all tasks see rise, and that no task uses up.
private final class Tide: Sendable {
  private struct State: AwaitedState {
    var height = 0
    var waiters = Waiters<Int, Void>()
    static var servesInTurns: Bool { false }
    func answer(to height: Int) -> Void? { self.height >= height ? () : nil }
  }

  private let state = Mutex(State())

  var waitingCount: Int { state.withLock { $0.waiters.count } }

  func rise(to height: Int) { state.change { $0.height = height } }

  func reaches(_ height: Int) async { await state.wait(for: height, ifCancelled: nil) }
}
