import PiconetEngine

/// Reads of one source whose bytes still arrive, in the order in which they were requested.
///
/// A source reports the arrival of each read, one on the loop and the next on its own thread, so the report of a later
/// read may come first. Bytes are hashed in the order in which they are read.
struct ArrivingReads {
  struct Read: Hashable {
    /// The number of the transfer, as frames state it.
    let number: UInt64
    let offset: UInt64
    let payloadCount: Int
    let frameCount: Int

    var end: UInt64 { offset + UInt64(payloadCount) }
  }

  private var waiting: [(ticket: UInt64, read: Read)] = []
  private var nextTicket: UInt64 = 0

  /// - Returns: the ticket to pass to `arrived`.
  mutating func ask(for read: Read) -> UInt64 {
    defer { nextTicket += 1 }
    waiting.append((nextTicket, read))
    return nextTicket
  }

  /// Notes that the bytes of a read have arrived, and so have those of earlier reads that end no later.
  /// - Returns: all of these that have not been returned yet, in their order.
  mutating func arrived(_ ticket: UInt64) -> [Read] {
    guard let last = waiting.first(where: { $0.ticket == ticket }) else { return [] }
    let isDue = { (entry: (ticket: UInt64, read: Read)) in entry.ticket <= ticket && entry.read.end <= last.read.end }
    defer { waiting.removeAll(where: isDue) }
    return waiting.filter(isDue).map(\.read)
  }
}
