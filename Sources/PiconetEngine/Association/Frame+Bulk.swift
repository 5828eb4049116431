import PiconetWire

extension Frame {
  /// The bytes of a sequenced frame that may be large: they bring an acknowledgement about earlier than the number of frames does.
  var bulkCount: Int {
    switch self {
    case .message(let bytes), .fragment(let bytes), .streamData(_, let bytes): bytes.count
    default: 0
    }
  }
}
