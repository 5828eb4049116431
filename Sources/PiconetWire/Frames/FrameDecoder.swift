/// Turns bytes into frames, regardless of how the bytes were cut on their way.
///
/// Complete frames are returned as slices of the bytes that came in. Only a frame that is cut between two pushes is
/// copied, and never more than the limit of one frame and its header is kept. A decoder that has thrown is finished: it
/// takes nothing more and throws the same error again.
public struct FrameDecoder: Sendable {
  /// The longest accepted body of messages, chunks and stream data, as our hello states it. Other frames may always
  /// have `WireLimits.controlFrame` bytes.
  public let frameLimit: Int

  private var input: Bytes = []
  /// Where the next frame begins in `input`. Moving a number is cheaper than cutting the slice for every frame.
  private var position = 0
  /// The beginning of a frame whose rest has not come yet. `input` holds the bytes that came after it.
  private var partial: [UInt8] = []
  private var failure: WireError?

  /// - Parameter frameLimit: in bytes; clamped to `WireLimits.smallestFrame` ... `WireLimits.largestFrame`.
  public init(frameLimit: Int) {
    self.frameLimit = min(max(frameLimit, WireLimits.smallestFrame), WireLimits.largestFrame)
  }

  /// Adds bytes. `next` must have returned nil before: only then is the memory bounded.
  public mutating func push(_ bytes: Bytes) {
    guard failure == nil else { return }
    if position == input.endIndex {
      input = bytes
      position = bytes.startIndex
    } else {
      // Appended in place, so that many small pushes cost no more than one large one. Only the first push copies the
      // existing bytes.
      input.append(contentsOf: bytes)
    }
  }

  /// How many bytes wait for the rest of their frame.
  public var bufferedCount: Int { partial.count + input.endIndex - position }

  /// Returns the next whole frame, or nil until more bytes come.
  public mutating func next() throws(WireError) -> Frame? {
    guard partial.isEmpty, position < input.endIndex else { return try nextFromPartial() }
    do {
      guard let header = try FrameHeader(input, at: position, limit: frameLimit),
        input.endIndex - position >= header.frameCount
      else {
        keepInput()
        return nil
      }
      let start = position + header.headerCount
      position += header.frameCount
      // Frames that come by the million are cut out of the input once, without a call.
      if header.type == FrameType.message { return .message(input[start..<position]) }
      if header.type == FrameType.chunk,
        case .value(let transfer, let count) = VariableInteger.read(input, at: start),
        count < header.bodyCount, transfer < WireLimits.transferNumbers
      {
        return .chunk(transfer: transfer, input[start + count..<position])
      }
      return try FrameBody.decode(type: header.type, input[start..<position])
    } catch { throw fail(error) }
  }

  /// Fails the decoder. The stream can't be followed beyond a broken frame, so no more of it is read.
  private mutating func fail(_ error: WireError) -> WireError {
    failure = error
    partial = []
    input = []
    position = 0
    return error
  }

  private mutating func keepInput() {
    partial = Array(input[position...])
    input = []
    position = 0
  }

  private mutating func takeInput(_ count: Int) {
    let end = position + min(count, input.endIndex - position)
    partial.append(contentsOf: input[position..<end])
    position = end
    guard position == input.endIndex else { return }
    input = []
    position = 0
  }

  private mutating func nextFromPartial() throws(WireError) -> Frame? {
    if let failure { throw failure }
    guard !partial.isEmpty else {
      // Everything has been returned. Nothing here keeps the storage alive any longer.
      input = []
      position = 0
      return nil
    }
    do {
      // The header is taken first, a byte at a time. It has at most nine bytes.
      var header = try FrameHeader(partial[...], at: 0, limit: frameLimit)
      while header == nil {
        guard position < input.endIndex else { return nil }
        takeInput(1)
        header = try FrameHeader(partial[...], at: 0, limit: frameLimit)
      }
      guard let header else { return nil }
      partial.reserveCapacity(header.frameCount)
      takeInput(header.frameCount - partial.count)
      guard partial.count == header.frameCount else { return nil }
      let body = partial[header.headerCount...]
      partial = []
      return try FrameBody.decode(type: header.type, body)
    } catch { throw fail(error) }
  }
}
