import PiconetWire

/// Sequenced frames that were sent and are not acknowledged yet, in order. They are sent again on another link if this
/// one dies.
///
/// Bulk is kept as it was written: a slice of what went to the link at once. So no bytes are copied, and a flush with a
/// thousand messages is one entry. Short frames that were written alone are copied one behind another, so that keeping
/// a frame of three bytes costs three bytes. The remote side can provoke many of those.
struct Unacknowledged: Sendable {
  /// Frames that were written at once, or short ones that were copied. They are dropped together.
  private struct Batch: Sendable {
    /// The sequence number of the last frame.
    var last: UInt64
    var frames: Bytes
    /// How many of the frames were written alone.
    var aloneCount = 0
  }

  private var batches = FirstInFirstOut<Batch>()
  /// Short frames behind the batches, and the number of the last of them.
  private var tail: [UInt8] = []
  private var tailLast: UInt64 = 0
  private var tailFrames = 0
  /// Bytes of the frames, plus the cost of keeping each batch.
  private(set) var byteCount = 0
  static let batchCost = 128
  /// Frames that were written alone: control frames, of which the remote side can provoke many.
  private(set) var aloneCount = 0
  /// Frames of at most this many bytes are copied behind the tail if the buffer that they came in is much larger.
  static let shortCount = 1024
  /// The number of bytes (here) or frames (`tailFrames`) at which copied frames become a batch. A batch is kept until
  /// its last frame is acknowledged.
  private static let tailCount = 4096
  static let tailFrames = 256

  var isEmpty: Bool { batches.isEmpty && tail.isEmpty }

  /// Keeps frames up to the number `last`, which follow the frames kept before.
  /// - Parameter bufferCount: how much memory the slice keeps alive, in bytes. If that is much more than the frames
  ///   themselves, they are copied.
  mutating func append(_ frames: Bytes, last: UInt64, bufferCount: Int) {
    let isWasteful = bufferCount > 4 * frames.count + Self.shortCount
    if isWasteful, frames.count <= Self.shortCount { return copy(frames, last: last) }
    sealTail()
    batches.append(Batch(last: last, frames: isWasteful ? Array(frames)[...] : frames))
    byteCount += frames.count + Self.batchCost
  }

  /// Keeps one frame that was written alone, like `append`.
  mutating func append(alone frame: Bytes, last: UInt64) {
    aloneCount += 1
    tailFrames += 1
    copy(frame, last: last)
    if tailFrames >= Self.tailFrames { sealTail() }
  }

  private mutating func copy(_ frames: Bytes, last: UInt64) {
    if tail.isEmpty { byteCount += Self.batchCost }
    tail.append(contentsOf: frames)
    tailLast = last
    byteCount += frames.count
    if tail.count >= Self.tailCount { sealTail() }
  }

  private mutating func sealTail() {
    guard !tail.isEmpty else { return }
    batches.append(Batch(last: tailLast, frames: tail[...], aloneCount: tailFrames))
    tail = []
    tailFrames = 0
  }

  /// Drops all frames up to this number, which have arrived. A batch is dropped only as a whole.
  mutating func acknowledge(_ received: UInt64) {
    while let last = batches.first?.last, last <= received, let batch = batches.popFirst() {
      byteCount -= batch.frames.count + Self.batchCost
      aloneCount -= batch.aloneCount
    }
    if !tail.isEmpty, tailLast <= received {
      byteCount -= tail.count + Self.batchCost
      aloneCount -= tailFrames
      tail = []
      tailFrames = 0
    }
  }

  /// Returns all frames above the number, which is not below the last acknowledged one.
  func frames(above received: UInt64) -> [Bytes] {
    var result: [Bytes] = []
    for batch in batches.elements where batch.last > received { result.append(Self.missing(batch, above: received)) }
    if !tail.isEmpty, tailLast > received {
      result.append(Self.missing(Batch(last: tailLast, frames: tail[...]), above: received))
    }
    return result
  }

  private static func missing(_ batch: Batch, above received: UInt64) -> Bytes {
    let missing = batch.last - received
    return missing >= UInt64(batch.frames.count) ? batch.frames : FrameCut.last(missing, of: batch.frames)
  }
}
