/// A partial file kept for a later transfer, with the properties that decide whether it stays.
struct KeptPartial: Hashable, Sendable {
  let name: PartialFileName
  /// Disk space that it takes, in bytes, and that its removal frees.
  var byteCount: UInt64
  /// How long it has been waiting, in seconds.
  var age: Int64 = 0
  /// When it was last written to, by the wall clock: only to order files of the same age.
  var changed: Int64 = 0
  /// Whether a process has it open, and is writing it.
  var isAlive = false
  /// Whether it has at least one block after which a transfer can resume.
  var isOfUse = true

  /// Identifies its sender.
  var sender: Substring { name.sender }

  /// The share that it counts against.
  var share: KeptShare { KeptShare(of: name) }
}

/// The owner of a share of the partial files.
enum KeptShare: Hashable, Sendable {
  case known(Substring)
  /// All strangers: keys cost nothing, and shares for each would leave the known senders nothing.
  case strangers

  init(of name: PartialFileName) { self = name.isOfStranger ? .strangers : .known(name.sender) }
}

/// All partial files of a directory, and the choice of those to remove. It needs no disk.
///
/// No sender's partial files reduce another's share. In number, the share is an equal part of the limit for each known
/// sender that has any, and one for all strangers together. In space, it is as much as another known sender that asks
/// for room would then hold itself, and all of it if a stranger asks. Among strangers the same holds, key by key; all
/// of them give way to a known sender.
struct KeptPartials: Sendable {
  /// The files that may be removed, the oldest first.
  private var waiting: [KeptPartial]
  private let living: [KeptPartial]

  init(_ all: [KeptPartial]) {
    living = all.filter(\.isAlive)
    waiting = all.filter { !$0.isAlive }.sorted { one, other in
      (-one.age, one.changed, one.name.text) < (-other.age, other.changed, other.name.text)
    }
  }

  /// Returns files that are useless, files that are too old, and those beyond the limit. The share with the most loses
  /// its oldest; among strangers, the key with the most loses its oldest.
  func toRemove(limit: Int, age: Int64) -> [KeptPartial] {
    var result = waiting.filter { !$0.isOfUse || $0.age >= age }
    var rest = waiting.filter { $0.isOfUse && $0.age < age }
    while rest.count > max(0, limit) {
      var shares: [KeptShare: Int] = [:]
      for file in rest { shares[file.share, default: 0] += 1 }
      let mostOfAll = shares.values.max()
      var senders: [Substring: Int] = [:]
      for file in rest where shares[file.share] == mostOfAll { senders[file.sender, default: 0] += 1 }
      let most = senders.values.max()
      let place = rest.firstIndex { shares[$0.share] == mostOfAll && senders[$0.sender] == most }
      guard let place else { break }
      result.append(rest.remove(at: place))
    }
    return result
  }

  /// Returns the files whose removal frees this many bytes for a file, oldest first and no more than needed; none if
  /// all of them together would not free enough. For a known sender, strangers' files go before others.
  ///
  /// A known sender's files may go for another known sender's as long as it holds at least as much as the asking one
  /// would with the new file, and for no stranger's; among strangers the same holds. A stranger's may always go for a
  /// known sender's.
  /// - Parameters:
  ///   - size: the size of the new file in bytes.
  ///   - asker: the name under which the new file is kept; nil if it is not kept.
  func toFree(_ missing: UInt64, size: UInt64, asker: PartialFileName?) -> [KeptPartial] {
    var held = Holdings(waiting + living)
    // A sender whose file is not kept may be any sender.
    let (sender, share) = (asker?.sender, asker.map { KeptShare(of: $0) } ?? .strangers)
    let claim = size.addingOrMax(sender.map { held.of($0) } ?? 0)
    let claimOfShare = size.addingOrMax(held.of(share))
    // Useless files go first, then those of strangers, unless a stranger asks.
    let useful = waiting.filter(\.isOfUse)
    var rest = waiting.filter { !$0.isOfUse }
    if share == .strangers {
      rest += useful
    } else {
      rest += useful.filter { $0.share == .strangers } + useful.filter { $0.share != .strangers }
    }
    var result: [KeptPartial] = []
    var freed: UInt64 = 0
    while freed < missing {
      let next = rest.firstIndex { file in
        guard file.byteCount > 0 else { return false }
        if !file.isOfUse || file.sender == sender { return true }
        if file.share == share { return held.of(file.sender) >= claim }
        if file.share == .strangers { return true }
        return share != .strangers && held.of(file.share) >= claimOfShare
      }
      guard let next else { return [] }
      let file = rest.remove(at: next)
      freed = freed.addingOrMax(file.byteCount)
      held.remove(file)
      result.append(file)
    }
    return result
  }

  /// How many bytes each sender and each share holds.
  private struct Holdings {
    private var senders: [Substring: UInt64] = [:]
    private var shares: [KeptShare: UInt64] = [:]

    init(_ files: [KeptPartial]) {
      for file in files {
        senders[file.sender] = of(file.sender).addingOrMax(file.byteCount)
        shares[file.share] = of(file.share).addingOrMax(file.byteCount)
      }
    }

    func of(_ sender: Substring) -> UInt64 { senders[sender] ?? 0 }

    func of(_ share: KeptShare) -> UInt64 { shares[share] ?? 0 }

    mutating func remove(_ file: KeptPartial) {
      senders[file.sender] = of(file.sender) - min(of(file.sender), file.byteCount)
      shares[file.share] = of(file.share) - min(of(file.share), file.byteCount)
    }
  }
}

extension UInt64 {
  /// Returns the sum, or the largest number if it overflows.
  func addingOrMax(_ other: UInt64) -> UInt64 {
    let sum = addingReportingOverflow(other)
    return sum.overflow ? .max : sum.partialValue
  }
}
