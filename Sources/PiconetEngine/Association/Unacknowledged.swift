import PiconetWire

/// Sequenced frames that were sent and not acknowledged, in their order, for another link should this one die.
///
/// They are kept as they were written, a slice of what went to the link at once: nothing is copied, and a flush with a thousand messages
/// is one entry.
struct Unacknowledged: Sendable {
  /// Frames that were written at once.
  private struct Batch: Sendable {
    /// The number of the last of them.
    var last: UInt64
    var frames: Bytes
  }

  private var batches = FirstInFirstOut<Batch>()
  /// Bytes of the frames, and what keeping a batch costs beside them.
  private(set) var byteCount = 0
  static let batchCost = 64

  var isEmpty: Bool { batches.isEmpty }

  /// Keeps frames up to the number `last`, which follow those that were kept before.
  mutating func append(_ frames: Bytes, last: UInt64) {
    batches.append(Batch(last: last, frames: frames))
    byteCount += frames.count + Self.batchCost
  }

  /// All frames up to this number have arrived. Batches go as a whole.
  mutating func acknowledge(_ received: UInt64) {
    while let last = batches.first?.last, last <= received, let batch = batches.popFirst() {
      byteCount -= batch.frames.count + Self.batchCost
    }
  }

  /// All frames above the number, which is not below the last one that was acknowledged.
  func frames(above received: UInt64) -> [Bytes] {
    var result: [Bytes] = []
    for batch in batches.elements where batch.last > received {
      let missing = batch.last - received
      result.append(missing >= UInt64(batch.frames.count) ? batch.frames : FrameCut.last(missing, of: batch.frames))
    }
    return result
  }
}
