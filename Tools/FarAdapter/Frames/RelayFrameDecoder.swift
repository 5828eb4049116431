import PiconetWire

/// Turns the bytes of a control connection into frames, however the bytes were cut: each frame follows its length, four
/// bytes, the highest first.
///
/// The bytes come from the network: anything but a frame is refused, and can never ask for more memory than a frame may
/// have.
struct RelayFrameDecoder<Frame: RelayCoded> {
  private var input: [UInt8] = []
  private var position = 0

  /// Adds bytes. First take out the frames before with `next` until it gives nil.
  mutating func push(_ bytes: some Collection<UInt8>) {
    input.removeFirst(position)
    position = 0
    input.append(contentsOf: bytes)
  }

  /// The next whole frame, or nil until more bytes come.
  /// - Throws: what is wrong; nothing can be read after that.
  mutating func next() throws(RelayError) -> Frame? {
    guard input.count - position >= 4 else { return nil }
    let count = input[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
    guard count <= RelayLimits.frame else { throw RelayError("a frame of \(count) bytes") }
    let start = position + 4
    guard input.count - start >= count else { return nil }
    position = start + count
    var reader = RelayReader(input[start..<position])
    let frame = try Frame.read(from: &reader)
    try reader.end()
    return frame
  }

  /// A frame as it goes over the connection.
  static func bytes(of frame: Frame) -> [UInt8] {
    var body = RelayBytes()
    body(frame)
    let count = body.bytes.count
    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + body.bytes
  }
}
