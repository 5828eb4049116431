/// A partial file that is there for a later transfer, as far as it matters for whether it stays.
struct KeptPartial: Hashable, Sendable {
  let name: PartialFileName
  /// Bytes of the disk that it takes, which its removal gives back.
  var byteCount: UInt64
  /// Seconds that it has been waiting.
  var age: Int64 = 0
  /// When it was last written to, by the wall clock: only to tell those of one age.
  var changed: Int64 = 0
  /// A process has it open, and goes on with it.
  var isAlive = false
  /// There is at least a block that a transfer can go on behind.
  var isOfUse = true

  /// Stands for who has sent it.
  var sender: Substring { name.sender }
}

/// All of a directory, and which of them go: a decision without a disk.
///
/// Nobody's partial files cost another his share. Of their number it is an equal part of the limit for each sender who
/// has any; of the disk as much as whoever asks for room would then hold himself. A stranger's many or huge offers cost
/// him his own.
struct KeptPartials: Sendable {
  /// Those that may go, the oldest first.
  private var waiting: [KeptPartial]
  private let living: [KeptPartial]

  init(_ all: [KeptPartial]) {
    living = all.filter(\.isAlive)
    waiting = all.filter { !$0.isAlive }.sorted { one, other in
      (-one.age, one.changed, one.name.text) < (-other.age, other.changed, other.name.text)
    }
  }

  /// What nothing can be gone on with, what is too old, and what is beyond the limit: of that, whoever has most loses
  /// his oldest.
  func toRemove(limit: Int, age: Int64) -> [KeptPartial] {
    var result = waiting.filter { !$0.isOfUse || $0.age >= age }
    var rest = waiting.filter { $0.isOfUse && $0.age < age }
    while rest.count > max(0, limit) {
      var counts: [Substring: Int] = [:]
      for file in rest { counts[file.sender, default: 0] += 1 }
      let most = counts.values.max()
      guard let place = rest.firstIndex(where: { counts[$0.sender] == most }) else { break }
      result.append(rest.remove(at: place))
    }
    return result
  }

  /// Those whose removal frees so many bytes for a file, the oldest first and no more than needed; none where all of
  /// them would not free enough.
  ///
  /// Others' files may go while they hold at least as much as this sender would with the new file.
  /// - Parameters:
  ///   - size: bytes of the new file.
  ///   - sender: nil if its files are not kept.
  func toFree(_ missing: UInt64, size: UInt64, sender: Substring?) -> [KeptPartial] {
    var held: [Substring: UInt64] = [:]
    for file in waiting + living { held[file.sender] = (held[file.sender] ?? 0).addingOrMax(file.byteCount) }
    let claim = size.addingOrMax(sender.flatMap { held[$0] } ?? 0)
    // What is of no use to anybody goes before what is.
    var rest = waiting.filter { !$0.isOfUse } + waiting.filter(\.isOfUse)
    var result: [KeptPartial] = []
    var freed: UInt64 = 0
    while freed < missing {
      let next = rest.firstIndex { file in
        file.byteCount > 0 && (!file.isOfUse || file.sender == sender || (held[file.sender] ?? 0) >= claim)
      }
      guard let next else { return [] }
      let file = rest.remove(at: next)
      freed = freed.addingOrMax(file.byteCount)
      let left = (held[file.sender] ?? 0).subtractingReportingOverflow(file.byteCount)
      held[file.sender] = left.overflow ? 0 : left.partialValue
      result.append(file)
    }
    return result
  }
}

extension UInt64 {
  /// The sum, or the largest number where it is larger.
  func addingOrMax(_ other: UInt64) -> UInt64 {
    let sum = addingReportingOverflow(other)
    return sum.overflow ? .max : sum.partialValue
  }
}
