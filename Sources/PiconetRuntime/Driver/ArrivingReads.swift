import PiconetEngine

/// Reads of one source whose bytes still arrive, in the order in which they were asked for.
///
/// A source tells of each that its bytes are there, one on the loop and the next on a thread of its own, so the word of
/// a later one may come first. Bytes are hashed in the order in which they are read.
struct ArrivingReads {
  struct Read: Hashable {
    /// That of the transfer, as frames state it.
    let number: UInt64
    let offset: UInt64
    let payloadCount: Int
    let frameCount: Int

    var end: UInt64 { offset + UInt64(payloadCount) }
  }

  private var waiting: [(ticket: UInt64, read: Read)] = []
  private var nextTicket: UInt64 = 0

  /// - Returns: what `arrived` is called with.
  mutating func ask(for read: Read) -> UInt64 {
    defer { nextTicket += 1 }
    waiting.append((nextTicket, read))
    return nextTicket
  }

  /// The bytes of a read are there, and so are those of reads before it that end no later.
  /// - Returns: all of these that have not been returned yet, in their order.
  mutating func arrived(_ ticket: UInt64) -> [Read] {
    guard let last = waiting.first(where: { $0.ticket == ticket }) else { return [] }
    let isDue = { (entry: (ticket: UInt64, read: Read)) in entry.ticket <= ticket && entry.read.end <= last.read.end }
    defer { waiting.removeAll(where: isDue) }
    return waiting.filter(isDue).map(\.read)
  }
}
