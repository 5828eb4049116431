import Testing

/// The ACL packets that went from one adapter to another, as the emulated air counts them: L2CAP's bytes with its
/// headers.
struct SentPackets: CustomStringConvertible {
  /// How many there were of each size.
  let counts: [Int: Int]

  var number: Int { counts.values.reduce(0, +) }
  var bytes: Int { counts.reduce(0) { $0 + $1.key * $1.value } }
  var largest: Int { counts.keys.max() ?? 0 }
  var description: String {
    counts.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key) bytes" }.joined(separator: ", ")
  }

  /// The slots of 625 us that a radio would take: each packet in the smallest one that holds it, DH1, DH3 or DH5 of 3
  /// Mb/s, and a slot for the answer (Core 5.4, Vol 2 Part B, 6.5.4).
  var slots: Int { counts.reduce(0) { $0 + $1.value * ($1.key <= 83 ? 2 : $1.key <= 552 ? 4 : 6) } }

  func number(ofAtLeast size: Int) -> Int { counts.reduce(0) { $0 + ($1.key >= size ? $1.value : 0) } }

  /// Those since the last call, or since the adapters have existed.
  static func take(from one: Int, to other: Int) throws -> SentPackets {
    let words = "fault sizes \(VirtualAdapters.number(one)) \(VirtualAdapters.number(other))"
    var counts: [Int: Int] = [:]
    for line in output(words).split(separator: "\n") {
      let numbers = line.split(separator: " ").compactMap { Int($0) }
      try #require(numbers.count == 2, "\(words): \(line)")
      counts[numbers[0]] = numbers[1]
    }
    return SentPackets(counts: counts)
  }
}
