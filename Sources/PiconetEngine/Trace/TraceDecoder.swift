import PiconetWire

/// Bytes of a trace file to its header and its records, however the bytes were cut.
///
/// The file may come from anybody: it is refused with an error where it is not a trace, and never asks for more memory than the
/// bytes that it has, nor for a record above `TraceRecord.largest`.
public struct TraceDecoder: Sendable {
  private var input: [UInt8] = []
  private var position = 0

  /// What the trace begins with, once it is there.
  public private(set) var header: TraceHeader?

  public init() {}

  /// Adds bytes. The records before must have been taken out with `next` until it gave nil.
  public mutating func push(_ bytes: some Collection<UInt8>) {
    input.removeFirst(position)
    position = 0
    input.append(contentsOf: bytes)
  }

  /// Bytes that wait for the rest of their record: at the end of the file, what was cut off.
  public var bufferedCount: Int { input.count - position }

  /// The next whole record, or nil until more bytes come.
  /// - Throws: `TraceError`; nothing can be read after that.
  public mutating func next() throws(TraceError) -> TraceRecord? {
    if header == nil {
      guard let found = try readHeader() else { return nil }
      header = found
    }
    guard var reader = try nextPart() else { return nil }
    let record = try TraceRecord.read(from: &reader)
    try reader.end()
    return record
  }

  private mutating func readHeader() throws(TraceError) -> TraceHeader? {
    let known = input.prefix(TraceHeader.mark.count)
    guard TraceHeader.mark.starts(with: known) else { throw TraceError.notATrace }
    guard known.count == TraceHeader.mark.count else { return nil }
    position = known.count
    guard var reader = try nextPart() else {
      position = 0
      return nil
    }
    let version = try reader.integer()
    guard version == TraceHeader.version else { throw TraceError.version(version) }
    let header = try TraceHeader.read(from: &reader)
    try reader.end()
    return header
  }

  /// The next part behind its length, four bytes, the highest first.
  private mutating func nextPart() throws(TraceError) -> TraceReader? {
    guard input.count - position >= 4 else { return nil }
    let count = input[position..<(position + 4)].reduce(0) { $0 << 8 | UInt64($1) }
    guard count <= TraceRecord.largest else { throw TraceError.recordTooLarge(count) }
    let start = position + 4
    guard UInt64(input.count - start) >= count else { return nil }
    position = start + Int(count)
    return TraceReader(input[start..<position])
  }
}
