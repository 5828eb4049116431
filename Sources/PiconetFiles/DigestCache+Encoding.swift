import PiconetWire
import Synchronization

/// The form of a written cache: a line with the version, the number of the run and of entries, the entries, those
/// longest out of use first, and the SHA-256 of everything before it. Numbers are big-endian.
extension SHA256Digest.Cache {
  private static let mark = Array("piconet digests 1\n".utf8)
  /// Device, inode, size, two times of twelve bytes, digest, run.
  static let entryByteCount = 3 * 8 + 2 * 12 + SHA256Digest.byteCount + 4
  private static let headByteCount = mark.count + 8

  /// The size in bytes of a cache with the most entries; a longer file is not a cache.
  package static let byteLimit = headByteCount + limit * entryByteCount + SHA256Digest.byteCount

  private static let pieceByteCount = 64 << 10

  /// Writes everything in pieces; digests that are noted meanwhile wait.
  /// - Parameter write: returns false to give up.
  /// - Returns: whether everything was written.
  package func encode(_ write: (UnsafeRawBufferPointer) -> Bool) -> Bool {
    state.withLock { state in
      guard let hash = RunningSHA256() else { return false }
      var piece: [UInt8] = []
      piece.reserveCapacity(Self.pieceByteCount + Self.entryByteCount)
      func flush() -> Bool {
        defer { piece.removeAll(keepingCapacity: true) }
        return piece.withUnsafeBytes { bytes in
          hash.update(bytes)
          return write(bytes)
        }
      }
      piece += Self.mark
      piece.append(number: state.run)
      piece.append(number: UInt32(state.entries.count))
      for isOfThisRun in [false, true] {
        for entry in state.entries where (entry.run == state.run) == isOfThisRun {
          piece.append(entry)
          if piece.count >= Self.pieceByteCount, !flush() { return false }
        }
      }
      guard flush(), let sum = hash.finish(), sum.bytes.withUnsafeBytes(write) else { return false }
      state.unsaved = 0
      return true
    }
  }

  /// Adds the entries of a written cache, as far as there is room, and counts this run as one after it. Present entries
  /// stay.
  ///
  /// It is read twice, in pieces: once to see whether it is complete, and once to take its entries. In one piece it
  /// would need as much memory again as the cache.
  /// - Parameter read: fills the buffer with the bytes from an offset on; false if it can't.
  /// - Returns: false if the bytes are not a complete cache of this version, or can't be read; then nothing is added,
  ///   except what could be read the second time.
  package func merge(byteCount: Int, _ read: (UnsafeMutableRawBufferPointer, _ offset: Int) -> Bool) -> Bool {
    guard byteCount >= Self.headByteCount + SHA256Digest.byteCount, byteCount <= Self.byteLimit else { return false }
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceByteCount, alignment: 8)
    defer { piece.deallocate() }
    func pieces(_ bytes: Range<Int>, ofAtMost limit: Int, _ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
      for start in stride(from: bytes.lowerBound, to: bytes.upperBound, by: limit) {
        let part = UnsafeMutableRawBufferPointer(rebasing: piece.prefix(min(limit, bytes.upperBound - start)))
        guard read(part, start), body(UnsafeRawBufferPointer(part)) else { return false }
      }
      return true
    }
    let (end, hash) = (byteCount - SHA256Digest.byteCount, RunningSHA256())
    var head: (run: UInt32, count: UInt32)?
    var sum: SHA256Digest?
    guard
      pieces(
        0..<end, ofAtMost: piece.count,
        { bytes in
          hash?.update(bytes)
          head = head ?? Self.head(of: bytes)
          return head != nil
        }),
      pieces(
        end..<byteCount, ofAtMost: piece.count,
        { bytes in
          sum = SHA256Digest(bytes: bytes)
          return true
        }), let head, let sum, sum == hash?.finish(), head.run < .max,
      Int(head.count) * Self.entryByteCount == end - Self.headByteCount
    else { return false }
    return state.withLock { state in
      if state.entries.isEmpty {
        state.run = head.run + 1
        let count = min(Int(head.count), limit)
        state.entries.reserveCapacity(count)
        state.places.reserveCapacity(count)
      }
      let whole = piece.count / Self.entryByteCount * Self.entryByteCount
      return pieces(Self.headByteCount..<end, ofAtMost: whole) { bytes in
        var reader = NumberReader(bytes: bytes)
        while reader.position < bytes.count {
          guard let entry = reader.nextEntry(), state.entries.count < limit else { continue }
          if state.places[entry.stamp.hashValue] == nil { state.put(entry, limit: limit) }
        }
        return true
      }
    }
  }

  /// Returns the numbers of the run and of entries; nil if it is another version.
  private static func head(of bytes: UnsafeRawBufferPointer) -> (run: UInt32, count: UInt32)? {
    guard bytes.count >= headByteCount, bytes.starts(with: mark) else { return nil }
    var reader = NumberReader(bytes: bytes, position: mark.count)
    return (reader.next(UInt32.self), reader.next(UInt32.self))
  }
}

extension [UInt8] {
  fileprivate mutating func append(number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }

  fileprivate mutating func append(_ entry: SHA256Digest.Cache.Entry) {
    for number in [entry.stamp.device, entry.stamp.inode, entry.stamp.size] { append(number: number) }
    for time in [entry.stamp.modified, entry.stamp.changed] {
      append(number: time.seconds)
      append(number: time.nanoseconds)
    }
    append(contentsOf: entry.digest.bytes)
    append(number: entry.run)
  }
}

/// Reads numbers from bytes that are known to exist.
private struct NumberReader {
  let bytes: UnsafeRawBufferPointer
  var position = 0

  mutating func next<Number: FixedWidthInteger>(_ kind: Number.Type) -> Number {
    defer { position += MemoryLayout<Number>.size }
    return Number(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: kind))
  }

  /// nil: no such time exists.
  mutating func nextEntry() -> SHA256Digest.Cache.Entry? {
    let (device, inode, size) = (next(UInt64.self), next(UInt64.self), next(UInt64.self))
    let modified = ModificationTime(seconds: next(Int64.self), nanoseconds: next(UInt32.self))
    let changed = ModificationTime(seconds: next(Int64.self), nanoseconds: next(UInt32.self))
    let digest = SHA256Digest(bytes: bytes[position..<(position + SHA256Digest.byteCount)])
    position += SHA256Digest.byteCount
    let run = next(UInt32.self)
    guard let modified, let changed, let digest else { return nil }
    return SHA256Digest.Cache.Entry(
      stamp: FileStamp(device: device, inode: inode, size: size, modified: modified, changed: changed),
      digest: digest, run: run)
  }
}
