/// The division of a transfer's bytes into chunk frames. All frames but a transfer's last are full, so that each is one
/// TLS record.
public struct ChunkLayout: Sendable, Hashable {
  /// The transfer's number, which each header holds.
  public let transfer: UInt64
  /// Bytes of a full frame, its header included.
  public let frameCount: Int
  /// Bytes of payload in a full frame.
  public let payloadCount: Int

  /// - Parameter frameLimit: the longest body of a frame, in bytes, at least `WireLimits.smallestFrame`.
  public init(transfer: UInt64, frameLimit: Int) {
    self.transfer = transfer
    frameCount = 1 + VariableInteger.byteCount(of: UInt64(frameLimit)) + frameLimit
    payloadCount = frameLimit - VariableInteger.byteCount(of: transfer)
  }

  /// Makes the layout whose full frames have `frameCount` bytes. If no payload fills such a frame, because its header
  /// would grow with it, the frames are one or two bytes shorter.
  public init(transfer: UInt64, frameCount: Int) {
    // A header is longest before the longest payload.
    let longest = FrameEncoder.chunkHeaderCount(transfer: transfer, payloadCount: frameCount)
    let header = FrameEncoder.chunkHeaderCount(transfer: transfer, payloadCount: frameCount - longest)
    let isExact = FrameEncoder.chunkHeaderCount(transfer: transfer, payloadCount: frameCount - header) == header
    self.transfer = transfer
    payloadCount = isExact ? frameCount - header : frameCount - longest
    self.frameCount = isExact ? frameCount : frameCount - longest + header
  }

  // MARK: Bytes of frames

  /// Returns the bytes of all frames that carry `payload` bytes.
  public func frameBytes(ofPayload payload: Int) -> Int {
    let rest = payload % payloadCount
    let last = rest == 0 ? 0 : rest + FrameEncoder.chunkHeaderCount(transfer: transfer, payloadCount: rest)
    return payload / payloadCount * frameCount + last
  }

  /// Returns the bytes of as many full frames as fit into `room`, but at least of one.
  public func wholeFrames(in room: Int) -> Int { max(1, room / frameCount) * frameCount }

  /// Returns the payload of full frames that have this many bytes.
  public func payload(ofFrames bytes: Int) -> Int { bytes / frameCount * payloadCount }

  /// Returns how many frames these bytes are. The last may be shorter.
  public func frames(in bytes: Int) -> UInt64 { UInt64((bytes + frameCount - 1) / frameCount) }

  /// Returns the payload of one read: as many full frames as `bytes` holds, but at least one.
  public func payload(ofReads bytes: Int) -> Int { max(1, bytes / frameCount) * payloadCount }

  // MARK: Frames

  /// Returns frames for this much payload, ready to be sealed. All but the last are full. A file's bytes are copied
  /// once, from the page cache to where TLS takes them.
  /// - Parameter fill: fills the buffer with the bytes that begin at this offset of the payload.
  public func frames<Failure: Error>(
    ofPayload count: Int, _ fill: (UnsafeMutableRawBufferPointer, _ offset: Int) throws(Failure) -> Void
  ) throws(Failure) -> Bytes {
    var failure: Failure?
    let bytes = [UInt8](unsafeUninitializedCapacity: frameBytes(ofPayload: count)) { buffer, written in
      do throws(Failure) {
        var offset = 0
        while offset < count {
          let payload = min(count - offset, payloadCount)
          var header: [UInt8] = []
          FrameEncoder.appendChunkHeader(transfer: transfer, payloadCount: payload, to: &header)
          for byte in header {
            buffer.initializeElement(at: written, to: byte)
            written += 1
          }
          try fill(
            UnsafeMutableRawBufferPointer(
              rebasing: UnsafeMutableRawBufferPointer(buffer)[written..<(written + payload)]), offset)
          written += payload
          offset += payload
        }
      } catch {
        failure = error
        written = 0
      }
    }
    if let failure { throw failure }
    return bytes[...]
  }
}
