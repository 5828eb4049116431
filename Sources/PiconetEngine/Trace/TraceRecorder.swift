import PiconetWire

/// Records what an engine took and what it answered. The engine's driver passes both in, and takes the bytes out.
public struct TraceRecorder: Sendable {
  private var output = TraceBytes()
  private var redactor: TraceRedactor?
  private var written: UInt64 = 0
  private let limit: UInt64
  /// Whether the recording has ended.
  public private(set) var isEnded = false

  /// - Parameter limit: the maximum number of bytes of the whole trace.
  public init(_ header: TraceHeader, limit: UInt64) {
    self.limit = limit
    if header.isRedacted { redactor = TraceRedactor() }
    output.bytes = TraceHeader.mark
    append(isHeader: true) { bytes in
      bytes.append(TraceHeader.version)
      header.write(to: &bytes)
    }
    written = UInt64(output.bytes.count)
  }

  /// Bytes that wait to be taken out.
  public var count: Int { output.bytes.count }

  /// Returns everything that was recorded since the last call.
  public mutating func takeBytes() -> [UInt8] {
    defer { output.bytes = [] }
    return output.bytes
  }

  /// Records a fact that the engine took, and its effects.
  public mutating func record(_ fact: Fact, at now: Instant, _ effects: ArraySlice<Effect>) {
    guard !isEnded else { return }
    record(.fact(redactor?.redacted(fact) ?? fact, at: now))
    record(effects)
  }

  /// Records a flush and its effects. The engine leaves out flushes for which no link was marked.
  public mutating func recordFlush(at now: Instant, _ effects: ArraySlice<Effect>) {
    guard !isEnded else { return }
    record(.flushed(at: now))
    record(effects)
  }

  /// Ends the recording.
  public mutating func end(_ end: TraceEnd) {
    guard !isEnded else { return }
    record(.ended(end))
    isEnded = true
  }

  private mutating func record(_ effects: ArraySlice<Effect>) {
    for effect in effects { record(.effect(redactor?.redacted(effect) ?? effect)) }
  }

  private mutating func record(_ record: TraceRecord) {
    guard !isEnded else { return }
    let before = output.bytes.count
    let count = append { record.write(to: &$0) }
    written += UInt64(output.bytes.count - before)
    guard UInt64(count) > TraceRecord.largest || written > limit else { return }
    // The record that exceeds the limit is left out, so that the rest can be read to its end.
    output.bytes.removeLast(output.bytes.count - before)
    isEnded = true
    append { TraceRecord.ended(UInt64(count) > TraceRecord.largest ? .recordLimit : .sizeLimit).write(to: &$0) }
  }

  /// Appends a part with its length and its checksums.
  /// - Parameter isHeader: whether the part is the header. Its length has no checksum of its own, so that each version
  ///   can read which version it is.
  @discardableResult
  private mutating func append(isHeader: Bool = false, _ body: (inout TraceBytes) -> Void) -> Int {
    let start = output.bytes.count
    let first = start + (isHeader ? 4 : 6)
    output.bytes.append(contentsOf: repeatElement(0, count: first - start))
    body(&output)
    let count = output.bytes.count - first
    put(UInt32(clamping: count), 4, at: start)
    if !isHeader { put(TraceChecksum.of(output.bytes[start..<(start + 4)]), 2, at: start + 4) }
    let checksum = TraceChecksum.of(output.bytes[first...])
    output.bytes.append(contentsOf: [0, 0, 0, 0])
    put(checksum, 4, at: output.bytes.count - 4)
    return count
  }

  /// Writes the low `count` bytes of a value, the highest of them first.
  private mutating func put(_ value: UInt32, _ count: Int, at start: Int) {
    for place in 0..<count {
      output.bytes[start + place] = UInt8(truncatingIfNeeded: value >> UInt32(8 * (count - 1 - place)))
    }
  }
}
