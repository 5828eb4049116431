import PiconetWire

/// Cuts bytes between frames. The bytes are whole frames that we have written ourselves.
enum FrameCut {
  /// Returns the last `count` frames, or all if there are fewer.
  static func last(_ count: UInt64, of frames: Bytes) -> Bytes {
    var starts: [Int] = []
    var index = frames.startIndex
    while index < frames.endIndex {
      starts.append(index)
      index = end(ofFrameAt: index, in: frames)
    }
    return UInt64(starts.count) <= count ? frames : frames[starts[starts.count - Int(count)]...]
  }

  /// Returns frames of at most `count` bytes in all, but at least one frame.
  static func prefix(of frames: Bytes, upTo count: Int) -> Bytes {
    if frames.count <= count { return frames }
    var index = frames.startIndex
    repeat {
      let next = end(ofFrameAt: index, in: frames)
      if index > frames.startIndex, next - frames.startIndex > count { break }
      index = next
    } while index < frames.endIndex
    return frames[..<index]
  }

  private static func end(ofFrameAt index: Int, in frames: Bytes) -> Int {
    guard case .value(let body, let width) = VariableInteger.read(frames, at: index + 1) else { return frames.endIndex }
    return min(frames.endIndex, index + 1 + width + Int(clamping: body))
  }
}
