/// Bytes to frames, however the bytes were cut on their way.
///
/// What is complete is handed out as slices of the bytes that came in; only a frame that is cut between two pushes is copied,
/// and never more than the limit of one frame is kept.
public struct FrameDecoder: Sendable {
  /// The longest body that is taken; ours, stated in our hello.
  public let frameLimit: Int

  private var input: Bytes = []
  /// The beginning of a frame whose rest has not come yet.
  private var partial: [UInt8] = []

  public init(frameLimit: Int) { self.frameLimit = min(frameLimit, WireLimits.largestFrame) }

  /// Adds bytes. The frames before must have been taken out with `next` until it gave nil.
  public mutating func push(_ bytes: Bytes) {
    if input.isEmpty {
      input = bytes
    } else {
      input.append(contentsOf: bytes)
    }
  }

  /// How many bytes wait for the rest of their frame.
  public var bufferedCount: Int { partial.count + input.count }

  /// The next whole frame, or nil until more bytes come.
  public mutating func next() throws(WireError) -> Frame? {
    if partial.isEmpty {
      guard let header = try FrameHeader(input, limit: frameLimit), input.count >= header.frameCount else {
        keepInput()
        return nil
      }
      let bodyStart = input.startIndex + header.headerCount
      let frameEnd = input.startIndex + header.frameCount
      let body = input[bodyStart..<frameEnd]
      input = input[frameEnd...]
      return try FrameBody.decode(type: header.type, body)
    }
    return try nextFromPartial()
  }

  private mutating func keepInput() {
    partial.append(contentsOf: input)
    input = []
  }

  private mutating func nextFromPartial() throws(WireError) -> Frame? {
    // The header first, a byte at a time: it has at most five.
    while try FrameHeader(partial[...], limit: frameLimit) == nil {
      guard let byte = input.popFirst() else { return nil }
      partial.append(byte)
    }
    guard let header = try FrameHeader(partial[...], limit: frameLimit) else { return nil }
    partial.reserveCapacity(header.frameCount)
    let missing = header.frameCount - partial.count
    partial.append(contentsOf: input.prefix(missing))
    input = input.dropFirst(missing)
    guard partial.count == header.frameCount else {
      input = []
      return nil
    }
    let body = partial[header.headerCount...]
    partial = []
    return try FrameBody.decode(type: header.type, body)
  }
}

/// The type and the length of a frame.
struct FrameHeader {
  let type: UInt8
  let headerCount: Int
  let bodyCount: Int
  var frameCount: Int { headerCount + bodyCount }

  /// Nil if the header is not complete yet.
  init?(_ bytes: Bytes, limit: Int) throws(WireError) {
    guard let type = bytes.first else { return nil }
    switch VariableInteger.read(bytes, at: bytes.startIndex + 1) {
    case .incomplete: return nil
    case .notShortest: throw WireError.malformed(type: type, what: "length is not in its shortest form")
    case .value(let value, let count):
      guard value <= UInt64(limit) else { throw WireError.frameTooLarge(type: type, size: value, limit: limit) }
      self.type = type
      headerCount = 1 + count
      bodyCount = Int(value)
    }
  }
}
