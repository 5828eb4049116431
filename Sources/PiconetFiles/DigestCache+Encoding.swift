import PiconetWire
import Synchronization

/// How a cache is written: a line with the version, the number of the run and of entries, the entries, those that are
/// longest out of use first, and the SHA-256 of all that. Numbers are big-endian.
extension SHA256Digest.Cache {
  private static let mark = Array("piconet digests 1\n".utf8)
  /// Device, inode, size, two times of twelve bytes, digest, run.
  static let entryByteCount = 3 * 8 + 2 * 12 + SHA256Digest.byteCount + 4
  private static let headByteCount = mark.count + 8

  /// What a cache with as many entries as one may have takes, in bytes: what is longer is none.
  package static let byteLimit = headByteCount + limit * entryByteCount + SHA256Digest.byteCount

  private static let pieceByteCount = 64 << 10

  /// Writes everything in pieces; what is noted meanwhile waits.
  /// - Parameter write: false: give up.
  /// - Returns: whether all was written.
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

  /// Takes what was written, as far as there is room, and counts this run as one after it. What is here already stays.
  /// - Returns: false if the bytes are not a whole cache of this version; then nothing is taken.
  package func merge(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let contentCount = bytes.count - Self.headByteCount - SHA256Digest.byteCount
    guard contentCount >= 0, bytes.count <= Self.byteLimit, bytes.starts(with: Self.mark) else { return false }
    var reader = NumberReader(bytes: bytes, position: Self.mark.count)
    let (run, count) = (reader.next(UInt32.self), Int(reader.next(UInt32.self)))
    let end = bytes.count - SHA256Digest.byteCount
    guard count * Self.entryByteCount == contentCount, run < .max,
      let sum = RunningSHA256.digest(of: UnsafeRawBufferPointer(rebasing: bytes[..<end])),
      sum == SHA256Digest(bytes: bytes[end...])
    else { return false }
    state.withLock { state in
      if state.entries.isEmpty { state.run = run + 1 }
      for _ in 0..<count {
        guard let entry = reader.nextEntry(), state.entries.count < limit else { continue }
        if state.places[entry.stamp.hashValue] == nil { state.put(entry, limit: limit) }
      }
    }
    return true
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

/// Reads numbers from bytes that are known to be there.
private struct NumberReader {
  let bytes: UnsafeRawBufferPointer
  var position: Int

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
