import PiconetWire

/// All frames in these bytes, pushed at once.
func decodeAll(_ bytes: [UInt8], frameLimit: Int = 16_384) throws -> [Frame] {
  try decodeAll(pieces: [bytes[...]], frameLimit: frameLimit)
}

/// All frames in these pieces, pushed one after the other.
func decodeAll(pieces: [Bytes], frameLimit: Int = 16_384) throws -> [Frame] {
  var decoder = FrameDecoder(frameLimit: frameLimit)
  var frames: [Frame] = []
  for piece in pieces {
    decoder.push(piece)
    while let frame = try decoder.next() { frames.append(frame) }
  }
  return frames
}
