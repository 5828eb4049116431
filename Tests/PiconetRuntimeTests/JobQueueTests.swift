import Testing

@testable import PiconetRuntime

@Suite("A loop's jobs")
struct JobQueueTests {
  /// Where jobs write their numbers.
  private final class Log { var numbers: [Int] = [] }

  private let log = Log()

  private func job(_ number: Int) -> LoopJob { .call { [log] in log.numbers.append(number) } }

  private func runFirst(_ jobs: inout JobQueue) {
    guard case .call(let body) = jobs.popFirst() else { return }
    body()
  }

  @Test("come out in their order, while others are added and the ring grows round its end")
  func keepsTheOrder() {
    var jobs = JobQueue()
    var added = 0
    for round in 0..<50 {
      for _ in 0..<(round % 7 + 3) {
        jobs.append(job(added))
        added += 1
      }
      for _ in 0..<(round % 5) { runFirst(&jobs) }
    }
    var more = (added..<added + 40).map(job)
    jobs.append(takingAll: &more)
    #expect(more.isEmpty)
    added += 40
    #expect(jobs.count == added - log.numbers.count)
    while !jobs.isEmpty { runFirst(&jobs) }
    #expect(log.numbers == Array(0..<added))
    #expect(jobs.count == 0)
  }

  @Test("are all handed over by takeAll, in their order")
  func takesAll() {
    var jobs = JobQueue()
    for number in 0..<20 { jobs.append(job(number)) }
    for _ in 0..<10 { runFirst(&jobs) }
    for number in 20..<30 { jobs.append(job(number)) }
    let all = jobs.takeAll()
    #expect(jobs.isEmpty)
    for case .call(let body) in all { body() }
    #expect(log.numbers == Array(0..<30))
  }

  @Test("hold nothing alive once they have come out")
  func holdsNothing() {
    final class Held {}
    var jobs = JobQueue()
    weak var seen: Held?
    do {
      let held = Held()
      seen = held
      jobs.append(.call { _ = held })
    }
    #expect(seen != nil)
    runFirst(&jobs)
    #expect(seen == nil)
  }
}
