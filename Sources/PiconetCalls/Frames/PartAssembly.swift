/// Joins the parts of one long frame. They come in order, and a sender begins the next frame when it has sent the
/// previous one, or has given it up.
struct PartAssembly: Sendable {
  private var id: UInt64?
  private var bytes: [UInt8] = []
  private var total = 0

  /// - Parameter limit: the limit of the whole frame.
  /// - Returns: the frame, if this part was all of it.
  mutating func begin(
    _ id: UInt64, total: UInt64, _ part: ArraySlice<UInt8>, limit: Int
  ) throws(CBORError) -> [UInt8]? {
    bytes = []
    guard total <= UInt64(limit) else { throw CBORError(.limit, "a frame of more than \(limit) bytes") }
    self.id = id
    self.total = Int(total)
    return try next(id, part)
  }

  mutating func next(_ id: UInt64, _ part: ArraySlice<UInt8>) throws(CBORError) -> [UInt8]? {
    // Parts that another system of that node was sending when it stopped, or that were sent before this one began to
    // read.
    guard id == self.id else { return nil }
    guard !part.isEmpty, part.count <= total - bytes.count else {
      throw CBORError(.malformed, "an empty part, or more parts than were announced")
    }
    bytes += part
    guard bytes.count == total else { return nil }
    defer { self = PartAssembly() }
    return bytes
  }
}

extension CallFrame {
  /// Returns a long frame in parts of at most this many bytes each.
  /// - Parameter id: unique for this frame in this channel.
  public static func parts(of frame: [UInt8], id: UInt64, _ size: Int) -> [CallFrame] {
    stride(from: 0, to: frame.count, by: size).map { start in
      let part = frame[start..<min(start + size, frame.count)]
      return start == 0 ? .begin(id: id, total: UInt64(frame.count), part) : .next(id: id, part)
    }
  }
}
