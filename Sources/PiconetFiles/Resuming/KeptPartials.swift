/// A partial file kept for a later transfer: what decides whether it stays.
struct KeptPartial: Hashable, Sendable {
  let name: PartialFileName
  /// Disk space that it takes, in bytes, and that its removal gives back.
  var byteCount: UInt64
  /// How long it has been waiting, in seconds.
  var age: Int64 = 0
  /// When it was last written to, by the wall clock: only to order files of the same age.
  var changed: Int64 = 0
  /// Whether a process has it open, and goes on with it.
  var isAlive = false
  /// Whether there is at least one block after which a transfer can go on.
  var isOfUse = true

  /// Stands for its sender.
  var sender: Substring { name.sender }
}

/// All those of a directory, and which of them must go: a decision without a disk.
///
/// No sender's partial files cost another its share. In number, the share is an equal part of the limit for each sender
/// that has any; in space, as much as the sender that asks for room would itself hold then. A stranger's many or huge
/// offers cost only the stranger.
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

  /// Files that are of no use, files that are too old, and those beyond the limit, for which the sender with the most
  /// loses its oldest.
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

  /// Those whose removal frees so many bytes for a file, the oldest first and no more than needed; none if all of them
  /// together would not free enough.
  ///
  /// Files of other senders may go as long as those hold at least as much as this sender would with the new file.
  /// - Parameters:
  ///   - size: bytes of the new file.
  ///   - sender: nil if its files are not kept.
  func toFree(_ missing: UInt64, size: UInt64, sender: Substring?) -> [KeptPartial] {
    var held: [Substring: UInt64] = [:]
    for file in waiting + living { held[file.sender] = (held[file.sender] ?? 0).addingOrMax(file.byteCount) }
    let claim = size.addingOrMax(sender.flatMap { held[$0] } ?? 0)
    // Files of no use go first.
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
  /// The sum, or the largest number there is if that is smaller.
  func addingOrMax(_ other: UInt64) -> UInt64 {
    let sum = addingReportingOverflow(other)
    return sum.overflow ? .max : sum.partialValue
  }
}
