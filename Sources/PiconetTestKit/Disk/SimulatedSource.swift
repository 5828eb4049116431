import PiconetEngine
import PiconetWire

/// A file that is being sent.
struct SimulatedSource {
  enum Trouble {
    case none
    case unreadable(at: Int)
    case shrinks(to: Int)
    case grows
  }

  let content: Int
  let bytes: [UInt8]
  let trouble: Trouble
  /// When the last requested read is done. Reads are answered in the order in which they were requested.
  var busyUntil: UInt64 = 0
  var finishes = 0

  /// Returns chunk frames of the bytes from `offset` on, or the reason why they can't be read.
  func read(offset: UInt64, count: Int, transfer: UInt64, frameCount: Int) -> (frames: Bytes, failure: Reason?) {
    let start = Int(offset)
    guard start + count <= bytes.count else { return ([], .sourceChanged) }
    switch trouble {
    case .unreadable(let at) where start + count > at: return ([], .sourceUnreadable)
    case .shrinks(let size) where start + count > size: return ([], .sourceChanged)
    default: break
    }
    let layout = ChunkLayout(transfer: transfer, frameCount: frameCount)
    var frames: [UInt8] = []
    frames.reserveCapacity(count + count / 64 + 16)
    var position = start
    while position < start + count {
      let payload = min(layout.payloadCount, start + count - position)
      FrameEncoder.appendChunkHeader(transfer: transfer, payloadCount: payload, to: &frames)
      frames.append(contentsOf: bytes[position..<(position + payload)])
      position += payload
    }
    return (frames[...], nil)
  }
}
