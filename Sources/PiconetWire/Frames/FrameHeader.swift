/// The type and the length of a frame.
struct FrameHeader {
  let type: UInt8
  let headerCount: Int
  let bodyCount: Int
  var frameCount: Int { headerCount + bodyCount }

  /// Returns how long a body of this type may be, whatever limit the hello states.
  private static func exemption(of type: UInt8) -> Int {
    switch type {
    case FrameType.message, FrameType.fragment, FrameType.channelMessage, FrameType.channelFragment,
      FrameType.unreliableMessage, FrameType.chunk, FrameType.streamData, FrameType.tunnelData:
      0
    default: WireLimits.controlFrame
    }
  }

  /// Reads the header at `index`, which is in `bytes`; nil if the header is not complete yet.
  init?(_ bytes: Bytes, at index: Int, limit: Int) throws(WireError) {
    let type = bytes[index]
    switch VariableInteger.read(bytes, at: index + 1) {
    case .incomplete: return nil
    case .notShortest: throw WireError.malformed(type: type, what: "length is not in its shortest form")
    case .value(let value, let count):
      guard value <= UInt64(limit) || value <= UInt64(Self.exemption(of: type)) else {
        throw WireError.frameTooLarge(type: type, size: value, limit: max(limit, Self.exemption(of: type)))
      }
      self.type = type
      headerCount = 1 + count
      bodyCount = Int(value)
    }
  }
}
