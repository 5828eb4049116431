import PiconetWire

/// Turns the bytes of a trace file into its header and its records, regardless of how the bytes were cut.
///
/// A file begins with `TraceHeader.mark`. The header follows its length (four bytes, the highest first), and is
/// followed by its checksum (four bytes). A record follows its length and the low half of the length's checksum (two
/// bytes), and is followed by its own checksum. So changed bytes can be told from a file that was cut off.
///
/// The file is not trusted. It is refused with an error if it is not a trace. It can never ask for more memory than it
/// has bytes, nor for a record above `TraceRecord.largest`.
public struct TraceDecoder: Sendable {
  private var input: [UInt8] = []
  private var position = 0
  /// Bytes of the file before those in `input`.
  private var droppedCount: UInt64 = 0

  /// The header of the trace; nil until it has been read.
  public private(set) var header: TraceHeader?

  public init() {}

  /// Adds bytes. First take out the earlier records with `next` until it returns nil.
  public mutating func push(_ bytes: some Collection<UInt8>) {
    input.removeFirst(position)
    droppedCount += UInt64(position)
    position = 0
    input.append(contentsOf: bytes)
  }

  /// Bytes that wait for the rest of their record. At the end of the file, they are the part that was cut off.
  public var bufferedCount: Int { input.count - position }

  /// Returns the next whole record, or nil until more bytes come.
  /// - Throws: `TraceError`; nothing can be read after that.
  public mutating func next() throws(TraceError) -> TraceRecord? {
    if header == nil {
      guard let found = try readHeader() else { return nil }
      header = found
    }
    let offset = offset
    guard let bytes = try nextPart() else { return nil }
    return try Self.read(bytes, at: offset) { (reader) throws(TraceError) in try TraceRecord.read(from: &reader) }
  }

  /// The offset in the file at which the next part begins.
  private var offset: UInt64 { droppedCount + UInt64(position) }

  private mutating func readHeader() throws(TraceError) -> TraceHeader? {
    let known = input.prefix(TraceHeader.mark.count)
    guard TraceHeader.mark.starts(with: known) else { throw TraceError.notATrace }
    guard known.count == TraceHeader.mark.count else { return nil }
    position = known.count
    let offset = offset
    guard let bytes = try nextPlainPart() else {
      position = 0
      return nil
    }
    var start = TraceReader(bytes)
    let version = try start.integer()
    guard version == TraceHeader.version else { throw TraceError.version(version) }
    let rest = input[position...]
    guard rest.count >= 4 else {
      position = 0
      return nil
    }
    guard UInt64(TraceChecksum.of(bytes)) == Self.number(rest.prefix(4)) else { throw Self.changed(offset) }
    position += 4
    return try Self.read(start.rest, at: offset) { (reader) throws(TraceError) in
      try TraceHeader.read(from: &reader)
    }
  }

  /// Reads all of a part as one value.
  private static func read<Value>(
    _ bytes: Bytes, at offset: UInt64, _ body: (inout TraceReader) throws(TraceError) -> Value
  ) throws(TraceError) -> Value {
    do throws(TraceError) {
      var reader = TraceReader(bytes)
      let value = try body(&reader)
      try reader.end()
      return value
    } catch {
      guard case .malformed(let what) = error else { throw error }
      throw TraceError.damaged(offset: offset, what)
    }
  }

  private static func changed(_ offset: UInt64) -> TraceError {
    .damaged(offset: offset, "its bytes are not those that were written")
  }

  private mutating func nextPart() throws(TraceError) -> Bytes? {
    let rest = input[position...]
    guard rest.count >= 6 else { return nil }
    // The length's checksum is checked first: a wrong length would make a damaged file look like one that was cut off.
    guard UInt64(TraceChecksum.of(rest.prefix(4)) & 0xFFFF) == Self.number(rest.dropFirst(4).prefix(2)) else {
      throw Self.changed(offset)
    }
    let count = Self.number(rest.prefix(4))
    guard count <= TraceRecord.largest else { throw TraceError.recordTooLarge(count) }
    guard UInt64(rest.count - 6) >= count + 4 else { return nil }
    let part = rest.dropFirst(6).prefix(Int(count))
    guard UInt64(TraceChecksum.of(part)) == Self.number(rest.dropFirst(6 + Int(count)).prefix(4)) else {
      throw Self.changed(offset)
    }
    position += Int(count) + 10
    return part
  }

  /// Reads a part with only a length before it: the header.
  private mutating func nextPlainPart() throws(TraceError) -> Bytes? {
    let rest = input[position...]
    guard rest.count >= 4 else { return nil }
    let count = Self.number(rest.prefix(4))
    guard count <= TraceRecord.largest else { throw TraceError.recordTooLarge(count) }
    guard UInt64(rest.count - 4) >= count else { return nil }
    position += Int(count) + 4
    return rest.dropFirst(4).prefix(Int(count))
  }

  /// Returns the integer in these bytes, the highest byte first.
  private static func number(_ bytes: Bytes) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
