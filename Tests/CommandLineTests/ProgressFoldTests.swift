import Testing

@testable import PiconetCommandLine

private let kitchen = TransferPeer(id: "k", fingerprint: "k", name: "Kitchen")
private let attic = TransferPeer(id: "a", fingerprint: "a", name: "Attic")

/// Progress with a clock that a test moves.
private struct Run {
  var progress: ProgressFold
  var now = ContinuousClock.now

  init(files: Int? = nil, bytes: Int64 = 0) {
    progress = ProgressFold(isCounting: files != nil)
    if let files { progress.count(.init(files: files, bytes: bytes, isWhole: true)) }
    progress.measure(at: now)
  }

  mutating func begin(_ name: String, _ peer: TransferPeer = kitchen, total: Int64) -> ProgressFold.Key {
    progress.begin(name, peer, total: total, isTrusted: true, isTold: true)
  }

  mutating func pass(_ time: Duration) {
    now += time
    progress.measure(at: now)
  }

  var bars: [ProgressBar] { progress.bars(at: now) }
}

@Suite("How far files are")
struct ProgressFoldTests {
  @Test("sizes that add up beyond 64 bits, which a peer can claim, stop nothing", arguments: [nil, 4])
  func hugeSizes(files: Int?) throws {
    var run = Run(files: files, bytes: .max)
    run.progress.open(kitchen)
    let keys = (0..<4).map { run.begin("\($0).jpg", total: Int64($0 == 0 ? 0 : 1) << 62) }
    run.progress.begins(keys[0], total: .max)
    for key in keys {
      run.progress.progress(key, done: 1 << 61)
      run.pass(.seconds(1))
    }
    for bar in run.bars { #expect(bar.total == .max && !bar.lines(columns: 80, unicode: true).isEmpty) }
    for key in keys { run.progress.end(key, isStored: true, at: run.now) }
    run.pass(.seconds(1))
    #expect(run.bars.allSatisfy { $0.files?.bytes == .max || $0.done == .max })
  }

  @Test("one bar counts the files and bytes of the whole, with its own rate and time left, beside the current file")
  func whole() throws {
    var run = Run(files: 4, bytes: 4_000)
    run.progress.open(kitchen)
    run.pass(.zero)
    let first = run.begin("holiday/a.jpg", total: 1_000)
    _ = run.begin("holiday/b.jpg", total: 1_000)
    run.progress.progress(first, done: 500)
    run.progress.end(first, isStored: true, at: run.now)
    run.pass(.seconds(1))
    let bar = try #require(run.bars.first)
    #expect(run.bars.count == 1)
    #expect(bar.label == nil && bar.files == .init(done: 1, total: 4))
    #expect(bar.name == "b.jpg" && bar.others == 0)
    #expect(bar.done == 1_000 && bar.total == 4_000)
    #expect(bar.bytesPerSecond == 1_000 && bar.timeLeft == .seconds(3))
  }

  @Test("what was there already is done, and makes no rate; nor does what an interrupted transfer had stored")
  func notMoved() throws {
    var run = Run(files: 3, bytes: 3_000)
    run.progress.open(kitchen)
    run.pass(.zero)
    let present = run.begin("a.jpg", total: 1_000)
    run.progress.compare(present, done: 1_000)
    #expect(run.bars.first?.isComparing == true && run.bars.first?.done == 0)
    run.progress.end(present, isStored: false, at: run.now)
    let resumed = run.begin("b.jpg", total: 1_000)
    run.progress.compare(resumed, done: 800)
    run.progress.progress(resumed, done: 800, resumedFrom: 800)
    run.pass(.seconds(1))
    #expect(run.bars.first?.bytesPerSecond == 0 && run.bars.first?.timeLeft == nil)
    run.progress.progress(resumed, done: 900, resumedFrom: 800)
    run.pass(.seconds(1))
    #expect(run.progress.files.first?.rate.bytesPerSecond == 100)
    let bar = try #require(run.bars.first)
    #expect(bar.files == .init(done: 1, total: 3) && bar.done == 1_900)
    #expect(try (50..<60).contains(#require(bar.bytesPerSecond)))
  }

  @Test("a resumed file has moved what came in this run, whether or not each step is seen")
  func moved() {
    var run = Run(files: 4, bytes: 4_000)
    run.progress.open(kitchen)
    // No figure is seen between the beginning and the end.
    let unseen = run.begin("a.jpg", total: 1_000)
    var ended = run.progress.end(unseen, isStored: true, resumedFrom: 700, at: run.now)
    #expect(ended?.moved == 300)
    let late = run.begin("b.jpg", total: 1_000)
    run.progress.progress(late, done: 900, resumedFrom: 700)
    ended = run.progress.end(late, isStored: false, at: run.now)
    #expect(ended?.moved == 200)
    // An existing file was compared, and differs.
    let other = run.begin("c.jpg", total: 1_000)
    run.progress.compare(other, done: 600)
    run.progress.progress(other, done: 100)
    ended = run.progress.end(other, isStored: true, at: run.now)
    #expect(ended?.moved == 1_000)
    let present = run.begin("d.jpg", total: 1_000)
    run.progress.compare(present, done: 1_000)
    ended = run.progress.end(present, isStored: false, at: run.now)
    #expect(ended?.moved == 0)
    ended = run.progress.end(present, isStored: false, at: run.now)
    #expect(ended?.key == nil)
  }

  @Test("a receiver may have a whole file of which no more is left than it gets ahead")
  func mayBeWhole() {
    var run = Run()
    let ahead = CommandLineLimits.bytesAhead
    #expect(!run.progress.mayBeWhole(kitchen))
    let large = run.begin("a.jpg", total: 3 * ahead)
    run.progress.progress(large, done: 2 * ahead - 1)
    #expect(!run.progress.mayBeWhole(kitchen))
    run.progress.compare(large, done: 3 * ahead)
    #expect(!run.progress.mayBeWhole(kitchen))
    run.progress.progress(large, done: 2 * ahead)
    #expect(run.progress.mayBeWhole(kitchen) && !run.progress.mayBeWhole(attic))
    run.progress.end(large, isStored: false, at: run.now)
    _ = run.begin("b.jpg", total: 5)
    #expect(run.progress.mayBeWhole(kitchen))
  }

  @Test("while files are counted the sum is marked, and nothing is said of the time left")
  func counting() throws {
    var run = Run(files: 0)
    run.progress.count(.init(files: 64, bytes: 64_000))
    run.progress.open(kitchen)
    run.pass(.zero)
    let key = run.begin("a.jpg", total: 1_000)
    run.progress.end(key, isStored: true, at: run.now)
    run.pass(.seconds(1))
    let bar = try #require(run.bars.first)
    #expect(bar.files == .init(done: 1, total: 64, isWhole: false))
    #expect(bar.bytesPerSecond == 1_000 && bar.timeLeft == nil)
  }

  @Test("one file alone has the bar for itself, its comparison too; what a server tells of its size counts then")
  func alone() {
    var run = Run(files: 1, bytes: 0)
    run.progress.open(kitchen)
    let key = run.begin("https://example.org/a.jpg", total: 0)
    run.progress.begins(key, total: 2_000)
    run.progress.compare(key, done: 700)
    #expect(run.bars == [ProgressBar(name: "a.jpg", isComparing: true, done: 700, total: 2_000)])
  }

  @Test("several receivers have a line each below the sum; one that has all is left in it without a line")
  func receivers() {
    var run = Run(files: 2, bytes: 2_000)
    run.progress.open(kitchen)
    run.progress.open(attic)
    for peer in [kitchen, attic] {
      let key = run.begin("a.jpg", peer, total: 1_000)
      run.progress.end(key, isStored: true, at: run.now)
    }
    #expect(run.bars.map(\.label) == ["total", "Kitchen", "Attic"])
    #expect(
      run.bars.map(\.files) == [.init(done: 2, total: 4), .init(done: 1, total: 2), .init(done: 1, total: 2)])
    #expect(run.bars.map(\.done) == [2_000, 1_000, 1_000] && run.bars.map(\.total) == [4_000, 2_000, 2_000])
    run.progress.over(attic)
    #expect(run.bars.map(\.label) == ["total", "Kitchen"])
    run.progress.over(kitchen)
    #expect(run.bars.isEmpty)
  }

  @Test("senders are counted each, have a line while files come, and are forgotten when they have left")
  func senders() {
    var run = Run()
    #expect(run.bars.isEmpty)
    let first = run.begin("a.jpg", total: 10)
    #expect(run.bars == [ProgressBar(name: "a.jpg", done: 0, total: 10)])
    run.progress.end(first, isStored: true, at: run.now)
    // The next file may come at once, so the bar stays for a while.
    #expect(run.bars.map(\.files) == [.init(done: 1, bytes: 10)])
    run.pass(ProgressFold.rest)
    #expect(run.bars.isEmpty)
    _ = run.begin("b.jpg", total: 10)
    _ = run.begin("c.jpg", attic, total: 10)
    #expect(run.bars.map(\.label) == ["Kitchen", "Attic"])
    #expect(run.bars.map(\.files) == [.init(done: 1, bytes: 10), nil])
    run.progress.over(attic)
    run.progress.over(kitchen)
    #expect(run.bars.allSatisfy { $0.files == nil })
  }
}
