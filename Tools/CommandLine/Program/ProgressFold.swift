/// How far files are, folded from what happens to each. Pure: its owner supplies the time.
struct ProgressFold: Sendable {
  typealias Instant = ContinuousClock.Instant

  struct Key: Hashable, Sendable {
    let number: UInt64
  }

  /// A file that is under way.
  struct File: Sendable {
    let key: Key
    let peer: TransferPeer
    let name: String
    /// Whether a person lets the peer push, or has chosen it.
    let isTrusted: Bool
    /// Whether the file was reported: if not, its progress isn't, either.
    let isTold: Bool
    var total: Int64
    var done: Int64 = 0
    /// Bytes of it that have crossed the link, unlike those that were there before.
    var moved: Int64 = 0
    var shown: Int64 = 0
    /// Whether it is being compared with what the receiver has.
    var isComparing = false
    var rate = TransferRate()
  }

  /// The files of a command that have been counted.
  struct Gathered: Hashable, Sendable {
    var files = 0
    var bytes: Int64 = 0
    /// Whether there are no more.
    var isWhole = false
  }

  private struct Side: Sendable {
    var peer: TransferPeer
    /// Whether more files may go to it.
    var isOpen: Bool
    /// Files that have had their outcome, and their bytes.
    var files = 0
    var bytes: Int64 = 0
    /// Bytes of files whose size was not known when they were counted.
    var uncounted: Int64 = 0
    /// Bytes that have crossed the link, unlike those that were there before.
    var moved: Int64 = 0
    var rate = TransferRate()
    /// Whether nothing can get to it at the moment.
    var isCut = false
    var lastEnd: Instant?
  }

  /// How long a peer without a file keeps its line: the next file may come at once.
  static let rest = Duration.seconds(1)

  /// For files that come one after the other, no shorter remaining time is shown.
  private static let shortestTold = Duration.seconds(2)

  /// nil: it is not known how many come.
  private(set) var gathered: Gathered?
  /// In the order in which they began.
  private(set) var files: [File] = []
  private var sides: [Side] = []
  private var next: UInt64 = 0

  /// - Parameter isCounting: whether the files are counted beforehand.
  init(isCounting: Bool = false) { gathered = isCounting ? Gathered() : nil }

  // MARK: What happens

  mutating func count(_ gathered: Gathered) { self.gathered = gathered }

  /// Files will go to this peer.
  mutating func open(_ peer: TransferPeer) {
    let index = side(of: peer)
    sides[index].isOpen = true
  }

  /// No more files go to the peer or come from it.
  mutating func over(_ peer: TransferPeer) {
    guard let index = sides.firstIndex(where: { $0.peer == peer }) else { return }
    sides[index].isOpen = false
    sides[index].lastEnd = nil
    // Peers that come and go are not added up.
    if gathered == nil { sides.remove(at: index) }
  }

  /// A peer that was gone is back as another one, and the files go on there.
  mutating func goOn(_ former: TransferPeer, as peer: TransferPeer) {
    guard former != peer, !sides.contains(where: { $0.peer == peer }),
      let index = sides.firstIndex(where: { $0.peer == former })
    else { return }
    sides[index].peer = peer
  }

  /// Nothing can get to these peers at the moment, and to all others something can.
  mutating func cut(_ peers: Set<TransferPeer>) {
    for index in sides.indices { sides[index].isCut = peers.contains(sides[index].peer) }
  }

  mutating func begin(_ name: String, _ peer: TransferPeer, total: Int64, isTrusted: Bool, isTold: Bool) -> Key {
    next += 1
    let key = Key(number: next)
    _ = side(of: peer)
    files.append(File(key: key, peer: peer, name: name, isTrusted: isTrusted, isTold: isTold, total: total))
    return key
  }

  /// - Parameter resumedFrom: how many of these bytes an earlier transfer had stored.
  mutating func progress(_ key: Key, done: Int64, resumedFrom: Int64 = 0) {
    change(key) { file, side in
      let before = max(file.isComparing ? 0 : file.done, resumedFrom)
      file.moved.add(bytes: max(0, done - before))
      side.moved.add(bytes: max(0, done - before))
      file.done = done
      file.isComparing = false
    }
  }

  mutating func compare(_ key: Key, done: Int64) {
    change(key) { file, _ in
      file.done = done
      file.isComparing = true
    }
  }

  /// The size of the file is known only now.
  mutating func begins(_ key: Key, total: Int64) {
    change(key) { file, side in
      side.uncounted.add(bytes: total - file.total)
      file.total = total
    }
  }

  /// - Parameters:
  ///   - isStored: whether it has crossed the link; otherwise it was there, or has failed.
  ///   - resumedFrom: see `progress`.
  /// - Returns: the file as it is then; nil: it has ended before.
  @discardableResult
  mutating func end(_ key: Key, isStored: Bool, resumedFrom: Int64 = 0, at now: Instant) -> File? {
    if isStored, let file = files.first(where: { $0.key == key }) {
      progress(key, done: file.total, resumedFrom: resumedFrom)
    }
    let ended = files.first { $0.key == key }
    change(key) { file, side in
      side.files += 1
      side.bytes.add(bytes: file.total)
      side.lastEnd = now
    }
    files.removeAll { $0.key == key }
    return ended
  }

  /// Measures the rates; call it now and then.
  mutating func measure(at now: Instant) {
    for index in files.indices {
      let file = files[index]
      files[index].rate.record(done: file.isComparing ? file.done : file.moved, at: now)
    }
    for index in sides.indices { sides[index].rate.record(done: sides[index].moved, at: now) }
  }

  /// The file's progress has been shown.
  mutating func show(_ index: Int) { files[index].shown = files[index].done }

  private mutating func side(of peer: TransferPeer) -> Int {
    if let index = sides.firstIndex(where: { $0.peer == peer }) { return index }
    sides.append(Side(peer: peer, isOpen: false))
    return sides.count - 1
  }

  private mutating func change(_ key: Key, _ body: (inout File, inout Side) -> Void) {
    guard let index = files.firstIndex(where: { $0.key == key }) else { return }
    let side = side(of: files[index].peer)
    body(&files[index], &sides[side])
  }

  /// Whether the peer may have all bytes of a file that is under way to it: what it is allowed to get ahead may have
  /// arrived without its saying so.
  func mayBeWhole(_ peer: TransferPeer) -> Bool {
    files.contains { file in
      file.peer == peer && file.total - (file.isComparing ? 0 : file.done) <= CommandLineLimits.bytesAhead
    }
  }

  // MARK: What is shown

  /// One bar for all, and one for each peer if there are several.
  func bars(at now: Instant) -> [ProgressBar] {
    let shown = sides.filter { isShown($0, at: now) }
    guard let gathered else { return shown.map { bar($0, isLabelled: shown.count > 1) } }
    guard sides.count > 1, !shown.isEmpty else { return shown.map { bar($0, gathered, isLabelled: false) } }
    return [whole(gathered)] + shown.map { bar($0, gathered, isLabelled: true) }
  }

  private func isShown(_ side: Side, at now: Instant) -> Bool {
    side.isOpen || files.contains { $0.peer == side.peer } || side.lastEnd.map { now - $0 < Self.rest } ?? false
  }

  /// For a peer that sends as many files as it likes, the percentage is that of the files under way.
  private func bar(_ side: Side, isLabelled: Bool) -> ProgressBar {
    let own = files.filter { $0.peer == side.peer }
    var bar = named(after: own, ProgressBar(done: 0, total: 0))
    bar.label = isLabelled ? side.peer.name : nil
    if side.files > 0 { bar.files = ProgressBar.Files(done: side.files, bytes: side.bytes) }
    bar.done = Int64(sumOf: own.map(\.done))
    bar.total = Int64(sumOf: own.map(\.total))
    bar.bytesPerSecond = side.rate.bytesPerSecond
    bar.isStalled = side.isCut
    // Not shown for small files, after which the next one follows at once.
    bar.timeLeft = side.rate.timeLeft(forBytes: bar.total - bar.done).flatMap { $0 < Self.shortestTold ? nil : $0 }
    return bar
  }

  private func bar(_ side: Side, _ gathered: Gathered, isLabelled: Bool) -> ProgressBar {
    let own = files.filter { $0.peer == side.peer }
    var bar = named(after: own, ProgressBar(done: 0, total: 0))
    bar.label = isLabelled ? side.peer.name : nil
    bar.files = count(side.files, gathered, times: 1)
    bar.done = Int64(sumOf: [side.bytes, done(own, isOnly: gathered.files == 1)])
    bar.total = max(0, Int64(sumOf: [gathered.bytes, side.uncounted]))
    bar.bytesPerSecond = side.rate.bytesPerSecond
    bar.isStalled = side.isCut
    if gathered.isWhole { bar.timeLeft = side.rate.timeLeft(forBytes: bar.total - bar.done) }
    return bar
  }

  private func whole(_ gathered: Gathered) -> ProgressBar {
    let bars = sides.map { bar($0, gathered, isLabelled: false) }
    var whole = ProgressBar(label: "total", done: 0, total: 0)
    whole.files = count(sides.reduce(0) { $0 + $1.files }, gathered, times: sides.count)
    whole.done = Int64(sumOf: bars.map(\.done))
    whole.total = Int64(sumOf: bars.map(\.total))
    whole.isStalled = zip(sides, bars).allSatisfy { !$0.0.isOpen || $0.1.isStalled }
    let rates = bars.compactMap(\.bytesPerSecond)
    if !rates.isEmpty { whole.bytesPerSecond = rates.reduce(0, +) }
    // They go side by side, so the one that ends last counts.
    whole.timeLeft = zip(sides, bars).filter { $0.0.isOpen }.compactMap { $0.1.timeLeft }.max()
    return whole
  }

  /// Bytes read for a comparison count only for a file that is alone: otherwise the bar would go back.
  private func done(_ files: [File], isOnly: Bool) -> Int64 {
    Int64(sumOf: files.filter { !$0.isComparing || isOnly }.map(\.done))
  }

  private func count(_ done: Int, _ gathered: Gathered, times: Int) -> ProgressBar.Files? {
    let total = gathered.files * times
    guard total > 1 else { return nil }
    return ProgressBar.Files(done: min(done, total), total: total, isWhole: gathered.isWhole)
  }

  /// Adds the name of the file that has been under way longest.
  private func named(after own: [File], _ bar: ProgressBar) -> ProgressBar {
    guard let first = own.first else { return bar }
    var bar = bar
    bar.name = LocalPath(first.name).lastComponent.readable
    bar.isComparing = first.isComparing
    bar.others = own.count - 1
    return bar
  }
}
