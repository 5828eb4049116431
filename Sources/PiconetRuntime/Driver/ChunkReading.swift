import PiconetEngine
import PiconetWire

/// Reads a source into whole chunk frames, ready to be sealed: the bytes of a file are copied once, from the page cache to
/// where TLS takes them.
enum ChunkReading {
  /// What a full frame carries: the header's own length depends on it, and is shorter for it than for `frameCount` bytes
  /// where the length's encoding grows in between, as it does at the default limit.
  static func fullPayload(transfer: UInt64, frameCount: Int) -> Int {
    let longest = FrameEncoder.chunkHeaderCount(transfer: transfer, payloadCount: frameCount)
    let header = FrameEncoder.chunkHeaderCount(transfer: transfer, payloadCount: frameCount - longest)
    // Where neither fits exactly, no payload fills the frame.
    let isExact = FrameEncoder.chunkHeaderCount(transfer: transfer, payloadCount: frameCount - header) == header
    return isExact ? frameCount - header : frameCount - longest
  }

  /// On the disk thread. All frames but the last have `frameCount` bytes.
  static func frames(
    of source: any ResourceSource, transfer: UInt64, offset: UInt64, payloadCount: Int, frameCount: Int
  ) throws(ResourceFailure) -> Bytes {
    let fullPayload = fullPayload(transfer: transfer, frameCount: frameCount)
    let fullFrames = payloadCount / fullPayload
    let lastPayload = payloadCount - fullFrames * fullPayload
    let lastCount =
      lastPayload == 0
      ? 0 : lastPayload + FrameEncoder.chunkHeaderCount(transfer: transfer, payloadCount: lastPayload)
    var failure: ResourceFailure?
    let bytes = [UInt8](unsafeUninitializedCapacity: fullFrames * frameCount + lastCount) { buffer, count in
      do throws(ResourceFailure) {
        var rest = payloadCount
        while rest > 0 {
          let payload = min(rest, fullPayload)
          var header: [UInt8] = []
          FrameEncoder.appendChunkHeader(transfer: transfer, payloadCount: payload, to: &header)
          for byte in header {
            buffer.initializeElement(at: count, to: byte)
            count += 1
          }
          let target = UnsafeMutableRawBufferPointer(
            rebasing: UnsafeMutableRawBufferPointer(buffer)[count..<(count + payload)])
          try source.read(into: target, at: offset + UInt64(payloadCount - rest))
          count += payload
          rest -= payload
        }
      } catch {
        failure = error
        count = 0
      }
    }
    if let failure { throw failure }
    return bytes[...]
  }
}
