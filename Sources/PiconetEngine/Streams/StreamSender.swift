import PiconetWire

/// The sending side of one stream: the queued bytes, how much the remote side accepts, and how much was sent.
final class StreamSender {
  enum Phase: Equatable, Sendable {
    /// Nothing of it was sent yet.
    case waiting
    /// Bytes go out as credit and link allow.
    case open
    /// The end was sent; the remote side has not read everything.
    case ended
    /// We have given it up. The number is free once the remote side confirms.
    case reset
  }

  let id: StreamID
  let number: UInt64
  let name: String
  private(set) var phase = Phase.waiting
  /// Whether `endStream` was sent, even if a reset followed.
  private(set) var hasEnded = false
  /// Set once the end follows the last queued byte. The command is answered when the remote side has read everything.
  private(set) var finishing: CommandID?

  private var queue = ByteQueue()
  private(set) var sent: UInt64 = 0
  /// How many bytes in all the remote side accepts.
  private(set) var limit: UInt64
  /// Whether it is in the queue of streams with something to send.
  private(set) var isQueued = false

  init(id: StreamID, number: UInt64, name: String, window: UInt64) {
    self.id = id
    self.number = number
    self.name = name
    limit = window
  }

  var queuedCount: Int { queue.count }

  /// Whether the application may still write.
  var isWritable: Bool { finishing == nil && (phase == .waiting || phase == .open) }

  /// Whether something can be sent now.
  var hasSomething: Bool {
    switch phase {
    case .waiting: true
    case .open: queuedCount > 0 ? sent < limit : finishing != nil
    case .ended, .reset: false
    }
  }

  func write(_ bytes: Bytes) {
    if isWritable { queue.append(bytes) }
  }

  func finish(_ command: CommandID) { finishing = command }

  func credit(_ limit: UInt64) { self.limit = max(self.limit, limit) }

  /// Notes that the stream enters or leaves the queue of streams with something to send.
  func setQueued(_ isQueued: Bool) { self.isQueued = isQueued }

  /// Gives it up, and discards the queued bytes.
  func reset() {
    phase = .reset
    queue.removeAll()
  }

  /// The result of one turn.
  struct Written: Equatable {
    var frames: UInt64 = 0
    /// Bytes that left the queue.
    var byteCount = 0
    /// Whether something that could be sent did not fit.
    var lacksRoom = false
  }

  /// Writes what one turn allows: the opening, at most one frame of bytes, the end. A frame is begun only if it fits
  /// whole; even the largest fits every window.
  func takeTurn(into bytes: inout [UInt8], room: Int, frameLimit: Int) -> Written {
    var written = Written()
    let end = bytes.count + room
    if phase == .waiting {
      guard bytes.count + name.utf8.count + Self.headerLimit <= end else {
        written.lacksRoom = true
        return written
      }
      FrameEncoder.append(.openStream(stream: number, name: name), to: &bytes)
      phase = .open
      written.frames += 1
    }
    guard phase == .open else { return written }
    let credit = Int(clamping: limit - sent)
    let count = min(queuedCount, credit, frameLimit - VariableInteger.byteCount(of: number))
    guard bytes.count + count + Self.headerLimit <= end else {
      written.lacksRoom = count > 0 || (queuedCount == 0 && finishing != nil)
      return written
    }
    if count > 0 {
      FrameEncoder.appendStreamHeader(stream: number, payloadCount: count, to: &bytes)
      queue.take(count, into: &bytes)
      sent += UInt64(count)
      written.frames += 1
      written.byteCount = count
    }
    if queuedCount == 0, finishing != nil {
      FrameEncoder.append(.endStream(stream: number), to: &bytes)
      phase = .ended
      hasEnded = true
      written.frames += 1
    }
    return written
  }

  /// The maximum number of header bytes in a turn: of the bytes, and the end.
  private static var headerLimit: Int { FrameEncoder.numberedHeaderLimit + FrameEncoder.endStreamLimit }
}
