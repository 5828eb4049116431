import Testing

@testable import PiconetCommandLine

@Suite("Places for files that are counted")
struct FilePlaceTests {
  private let start = ContinuousClock.now

  /// A class, since `#expect` may not change what it looks at.
  private final class Table {
    private var table: FilePlaceTable

    init(_ count: Int) { table = FilePlaceTable(count, patience: .seconds(10)) }

    func enter(_ place: UInt64, _ sender: String, at now: FilePlaceTable.Time) -> Bool {
      table.enter(place, sender, at: now)
    }
    func cancel(_ place: UInt64) -> Bool { table.cancel(place) }
    func moved(_ place: UInt64, done: UInt64, of total: UInt64, at now: FilePlaceTable.Time) {
      table.moved(place, done: done, of: total, at: now)
    }
    func leave(_ place: UInt64, isUsed: Bool, at now: FilePlaceTable.Time) -> UInt64? {
      table.leave(place, isUsed: isUsed, at: now)
    }
    func standing(at now: FilePlaceTable.Time) -> [UInt64] { table.standing(at: now) }
  }

  private func at(_ seconds: Int) -> FilePlaceTable.Time { start + .seconds(seconds) }

  /// A table of one place, which a sender called A has.
  private func table() -> Table {
    let table = Table(1)
    _ = table.enter(1, "A", at: start)
    return table
  }

  @Test("a file that stands still gives way to another sender's after its time, and is asked once")
  func givesWay() {
    let table = table()
    let entered = table.enter(2, "B", at: at(3))
    #expect(!entered)
    #expect(table.standing(at: at(9)).isEmpty)
    #expect(table.standing(at: at(10)) == [1])
    #expect(table.standing(at: at(11)).isEmpty)
    #expect(table.leave(1, isUsed: false, at: at(12)) == 2)
    #expect(table.standing(at: at(30)).isEmpty)
  }

  @Test("no file gives way unless another sender waits: neither alone, nor to files of the same sender")
  func staysAlone() {
    let table = table()
    #expect(table.standing(at: at(1_000)).isEmpty)
    _ = table.enter(2, "A", at: at(3))
    #expect(table.standing(at: at(1_000)).isEmpty)
  }

  @Test("a file that comes further stays, drops now and then are no progress, and one that is all here stays")
  func progress() {
    let table = table()
    _ = table.enter(2, "B", at: start)
    table.moved(1, done: 40_960, of: 1_000_000, at: at(9))
    #expect(table.standing(at: at(18)).isEmpty)
    for second in 10...18 { table.moved(1, done: 40_960 + UInt64(second), of: 1_000_000, at: at(second)) }
    #expect(table.standing(at: at(19)) == [1])

    let complete = self.table()
    _ = complete.enter(2, "B", at: start)
    complete.moved(1, done: 5, of: 5, at: at(1))
    #expect(complete.standing(at: at(1_000)).isEmpty)
  }

  @Test("a file that drips gives way, one that comes at 4 KiB a second stays, however large it is")
  func drips() {
    for (pace, isKept) in [(UInt64(1_024), false), (4_095, false), (4_096, true)] {
      let table = table()
      _ = table.enter(2, "B", at: start)
      var given: [UInt64] = []
      for second in 1...60 {
        table.moved(1, done: pace * UInt64(second), of: 1 << 40, at: at(second))
        given += table.standing(at: at(second))
      }
      #expect(given == (isKept ? [] : [1]), "\(pace) bytes a second")
    }
  }

  @Test("a file that drips stays as long as no other sender waits")
  func dripsAlone() {
    let table = table()
    for second in 1...60 { table.moved(1, done: UInt64(second), of: 1_000_000, at: at(second)) }
    #expect(table.standing(at: at(60)).isEmpty)
    _ = table.enter(2, "B", at: at(60))
    #expect(table.standing(at: at(60)) == [1])
  }

  @Test("files that share the way share the pace, down to 1 KiB in the time each")
  func shared() {
    for (count, least) in [(UInt64(4), UInt64(10_240)), (100, 1_024)] {
      let table = Table(Int(count))
      for place in 1...count { _ = table.enter(place, "A", at: start) }
      _ = table.enter(count + 1, "B", at: start)
      for place in 1...count {
        table.moved(place, done: place == 2 ? least - 1 : least, of: 1_000_000, at: at(9))
      }
      #expect(table.standing(at: at(18)) == [2], "\(count) files")
    }
  }

  @Test("a sender that has let a file stand still comes behind senders that have not")
  func comesBehind() {
    let table = table()
    for place in 2...9 as ClosedRange<UInt64> { _ = table.enter(place, "A", at: start) }
    _ = table.enter(10, "B", at: at(5))
    #expect(table.standing(at: at(10)) == [1])
    #expect(table.leave(1, isUsed: false, at: at(10)) == 10)
    // And once B is done, a file that is left.
    #expect(table.leave(10, isUsed: false, at: at(11)) == 2)
  }

  @Test("no more give way than others wait")
  func noMoreThanWait() {
    let table = Table(3)
    for place in 1...3 as ClosedRange<UInt64> { _ = table.enter(place, "A", at: at(Int(place))) }
    _ = table.enter(4, "B", at: at(3))
    #expect(table.standing(at: at(20)) == [1])
    #expect(table.standing(at: at(21)).isEmpty)
  }

  @Test("a place that was used stays used, and a file that stops waiting gets none")
  func used() {
    let table = table()
    _ = table.enter(2, "B", at: start)
    _ = table.enter(3, "C", at: start)
    #expect(table.leave(1, isUsed: true, at: at(1)) == nil)
    #expect(table.cancel(2))
    #expect(!table.cancel(2))
    #expect(table.leave(1, isUsed: false, at: at(1)) == nil)
  }

  @Test("a file that stands still is told to give up its place, which the waiting file takes")
  func overdue() async {
    let places = FilePlaces(1, patience: .zero)
    let first = await places.enter("A")
    let (standing, stands) = AsyncStream<Void>.makeStream()
    async let second = places.enter("B")
    let watching = Task { await places.watch() }
    if let first { places.whenStanding(first) { stands.finish() } }
    for await _ in standing {}
    if let first { places.leave(first, isUsed: false) }
    #expect(await second != nil)
    watching.cancel()
    await watching.value
  }
}
