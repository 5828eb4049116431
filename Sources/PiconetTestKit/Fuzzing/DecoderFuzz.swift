import PiconetEngine
import PiconetWire

/// Checks that any bytes give frames or an error, regardless of how they are cut, and that decoded frames encode to the
/// same bytes.
enum DecoderFuzz {
  static func run(_ bytes: some Collection<UInt8>) -> String? {
    var input = FuzzInput(bytes)
    let kind = input.byte()
    let step = max(1, Int(kind & 0x0F))
    return kind & 0x80 == 0 ? frames(input.rest, step: step) : trace(input.rest, step: step)
  }

  private struct Outcome: Equatable {
    var frames: [Frame] = []
    var error: WireError?
    /// The number of bytes left over, if the stream was read to its end.
    var buffered = 0
  }

  private static func decode(_ bytes: Bytes, step: Int) -> Outcome {
    var outcome = Outcome()
    var decoder = FrameDecoder(frameLimit: WireLimits.smallestFrame)
    var rest = bytes
    do throws(WireError) {
      while !rest.isEmpty {
        decoder.push(rest.prefix(step))
        rest = rest.dropFirst(step)
        while let frame = try decoder.next() { outcome.frames.append(frame) }
      }
      outcome.buffered = decoder.bufferedCount
    } catch { outcome.error = error }
    return outcome
  }

  private static func frames(_ bytes: Bytes, step: Int) -> String? {
    let whole = decode(bytes, step: .max)
    let cut = decode(bytes, step: step)
    if whole != cut { return "cut into \(step) bytes: \(cut), whole: \(whole)" }
    for frame in whole.frames {
      if case .unknownOptional = frame { continue }
      let again = decode(FrameEncoder.encode(frame)[...], step: .max)
      if again.frames != [frame] || again.error != nil { return "\(frame) is read again as \(again)" }
    }
    return nil
  }

  /// Reads a trace from an untrusted source, and replays it as far as possible.
  private static func trace(_ bytes: Bytes, step: Int) -> String? {
    var decoder = TraceDecoder()
    var rest = bytes
    var count = 0
    while !rest.isEmpty {
      decoder.push(rest.prefix(step * 16))
      rest = rest.dropFirst(step * 16)
      do throws(TraceError) {
        while try decoder.next() != nil { count += 1 }
      } catch { return nil }
    }
    return count > bytes.count ? "\(count) records in \(bytes.count) bytes" : nil
  }
}
