import PiconetEngine
import PiconetWire

/// Reads a source into whole chunk frames, ready to be sealed: a file's bytes are copied once, from the page cache to
/// where TLS takes them.
enum ChunkReading {
  /// On the disk thread. All frames but the last have `frameCount` bytes.
  static func frames(
    of source: any ResourceSource, transfer: UInt64, offset: UInt64, payloadCount: Int, frameCount: Int
  ) throws(ResourceFailure) -> Bytes {
    let layout = ChunkLayout(transfer: transfer, frameCount: frameCount)
    var failure: ResourceFailure?
    let bytes = [UInt8](unsafeUninitializedCapacity: layout.frameBytes(ofPayload: payloadCount)) { buffer, count in
      do throws(ResourceFailure) {
        var rest = payloadCount
        while rest > 0 {
          let payload = min(rest, layout.payloadCount)
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
