import Testing

@testable import PiconetFiles
@testable import PiconetTestKit

/// The decision which kept partial files go, played for a thousand seeded directories. Honest known senders come back
/// now and then, and a hostile one offers anything, under throwaway keys.
@Suite("A hostile sender among honest ones, by seeds") struct KeptShareSeedTests {
  /// A disk and what is kept on it.
  private struct Directory {
    let capacity: UInt64
    let limit: Int
    var files: [KeptPartial] = []
    private var names: UInt64 = 0

    init(capacity: UInt64, limit: Int) {
      self.capacity = capacity
      self.limit = limit
    }

    var used: UInt64 { files.map(\.byteCount).reduce(0, +) }

    func holdings() -> [KeptShare: UInt64] {
      Dictionary(grouping: files, by: \.share).mapValues { $0.map(\.byteCount).reduce(0, +) }
    }

    mutating func name(of sender: Int, _ dice: inout Dice) -> PartialFileName {
      names += 1
      let isHostile = sender == KeptShareSeedTests.hostile
      let key = isHostile ? dice.number(100...150) : sender
      let parts = [UInt64(key), names].map { number in
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
      }
      return PartialFileName(kept: parts.joined(), ofStranger: isHostile)
    }
  }

  private static let hostile = 0
  private static let age: Int64 = 1_000_000

  @Test("a known sender loses nothing to a hostile stranger's offers, nor to known senders that would hold more")
  func room() {
    for seed in 0..<1_000 as Range<UInt64> {
      var dice = Dice(seed: seed)
      var directory = Directory(capacity: UInt64(dice.number(20...200)), limit: dice.number(2...32))
      for _ in 0..<40 { step(&directory, &dice, seed) }
    }
  }

  private func step(_ directory: inout Directory, _ dice: inout Dice, _ seed: UInt64) {
    for index in directory.files.indices { directory.files[index].age += Int64(dice.number(0...50_000)) }
    let sender = dice.chance(50) ? Self.hostile : dice.number(1...5)
    let size: UInt64 =
      sender == Self.hostile
      ? dice.pick([1, 5, 50, directory.capacity, directory.capacity + 1, (1 << 62) - 1, .max])
      : UInt64(dice.number(1...15))
    // A whole offer is set aside, and a part of it stays when its link breaks.
    let name = directory.name(of: sender, &dice)
    guard makeRoom(for: size, as: name, in: &directory, seed) else { return }
    var file = KeptPartial(name: name, byteCount: min(size, UInt64(dice.number(0...Int(min(size, 40))))))
    file.isOfUse = dice.chance(90)
    file.isAlive = dice.chance(20)
    directory.files.append(file)
    sweep(&directory, seed)
    // Sometimes all open transfers end, and their files are kept.
    if dice.chance(50) { for index in directory.files.indices { directory.files[index].isAlive = false } }
  }

  /// - Returns: whether a file of that size may begin.
  private func makeRoom(
    for size: UInt64, as name: PartialFileName, in directory: inout Directory, _ seed: UInt64
  ) -> Bool {
    let free = directory.capacity - directory.used
    if size <= free { return true }
    let missing = size - free
    let asker = KeptShare(of: name)
    let before = directory.holdings()
    let all = Set(directory.files)
    let removed = KeptPartials(directory.files).toFree(missing, size: size, asker: name)
    #expect(Set(removed).count == removed.count && all.isSuperset(of: removed), "seed \(seed)")
    let open = removed.filter(\.isAlive)
    #expect(open.isEmpty, "seed \(seed): an open file is taken away")
    directory.files.removeAll { removed.contains($0) }
    if removed.isEmpty { return false }
    let freed = removed.map(\.byteCount).reduce(0, +)
    #expect(freed >= missing, "seed \(seed): files went, and there is no room")
    #expect(freed - (removed.last?.byteCount ?? 0) < missing, "seed \(seed): more went than was needed")
    let claim = size.addingOrMax(before[asker] ?? 0)
    for file in removed where file.isOfUse && file.share != asker && file.share != .strangers {
      #expect(asker != .strangers, "seed \(seed): a stranger's offer costs a known sender \(file.byteCount) MiB")
      let held = before[file.share] ?? 0
      #expect(held >= claim, "seed \(seed): \(held) MiB lost to one who would hold \(claim)")
    }
    return true
  }

  private func sweep(_ directory: inout Directory, _ seed: UInt64) {
    let useful = directory.files.filter { !$0.isAlive && $0.isOfUse && $0.age < Self.age }
    let counts = Dictionary(grouping: useful, by: \.share).mapValues(\.count)
    let share = directory.limit / max(1, counts.count)
    let removed = Set(KeptPartials(directory.files).toRemove(limit: directory.limit, age: Self.age))
    directory.files.removeAll { removed.contains($0) }
    let open = removed.filter(\.isAlive)
    #expect(open.isEmpty, "seed \(seed): an open file is taken away")
    let left = directory.files.filter { !$0.isAlive }
    #expect(left.count <= directory.limit, "seed \(seed): \(left.count) are kept, the limit is \(directory.limit)")
    let useless = left.filter { !$0.isOfUse || $0.age >= Self.age }
    #expect(useless.isEmpty, "seed \(seed)")
    for (owner, count) in counts where count <= share {
      let kept = left.filter { $0.share == owner }.count
      #expect(
        kept == count, "seed \(seed): \(count) files of \(owner) were within its share of \(share), \(kept) are left")
    }
  }
}
