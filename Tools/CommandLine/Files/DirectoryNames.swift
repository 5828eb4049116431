import Glibc

/// The names in a directory, sorted by their bytes, hidden ones after all others: all in one piece of memory, since a
/// directory may have a million.
struct DirectoryNames: Sendable {
  /// The number of names that are read before the next check whether they are still wanted.
  private static let namesAtOnce = 1_024

  private let bytes: [UInt8]
  private let ranges: [(start: UInt32, count: UInt16)]
  /// How many of them are not hidden.
  private let visibleCount: Int

  /// Of a task that is cancelled meanwhile there are only some of them.
  ///
  /// - Parameter hasHidden: whether names that begin with a dot are among them, but for `.` and `..`.
  ///
  /// Throws the errno of the call that failed.
  init(of path: LocalPath, hasHidden: Bool = false) throws(SystemFailure) {
    let descriptor = awaitingDescriptor { path.withCString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) } }
    guard descriptor >= 0 else { throw SystemFailure(number: errno) }
    guard let directory = fdopendir(descriptor) else {
      let number = errno
      close(descriptor)
      throw SystemFailure(number: number)
    }
    defer { closedir(directory) }
    var bytes: [UInt8] = []
    var ranges: [(start: UInt32, count: UInt16)] = []
    while !ranges.count.isMultiple(of: Self.namesAtOnce) || !Task.isCancelled {
      errno = 0
      guard let entry = readdir(directory) else {
        // readdir(3): null is both the end and an error; errno tells them apart.
        if errno != 0 { throw SystemFailure(number: errno) }
        break
      }
      withUnsafeBytes(of: &entry.pointee.d_name) { field in
        let count = field.firstIndex(of: 0) ?? field.count
        guard count > 0, let start = UInt32(exactly: bytes.count) else { return }
        if field[0] == UInt8(ascii: ".") {
          let isReference = count == 1 || count == 2 && field[1] == UInt8(ascii: ".")
          guard hasHidden, !isReference else { return }
        }
        bytes.append(contentsOf: field[..<count])
        ranges.append((start, UInt16(count)))
      }
    }
    let all = bytes
    ranges.sort { left, right in
      let (leftIsHidden, rightIsHidden) = (Self.isHidden(Self.slice(all, left)), Self.isHidden(Self.slice(all, right)))
      if leftIsHidden != rightIsHidden { return rightIsHidden }
      return Self.slice(all, left).lexicographicallyPrecedes(Self.slice(all, right))
    }
    self.bytes = all
    visibleCount = ranges.firstIndex { Self.isHidden(Self.slice(all, $0)) } ?? ranges.count
    self.ranges = ranges
  }

  var count: Int { ranges.count }

  subscript(index: Int) -> [UInt8] { Array(Self.slice(bytes, ranges[index])) }

  /// Whether a name begins with a dot.
  static func isHidden(_ name: some Collection<UInt8>) -> Bool { name.first == UInt8(ascii: ".") }

  /// - Parameter name: one that is not hidden.
  func contains(_ name: some Collection<UInt8>) -> Bool {
    var (low, high) = (0, visibleCount)
    while low < high {
      let middle = (low + high) / 2
      let there = Self.slice(bytes, ranges[middle])
      if there.elementsEqual(name) { return true }
      if there.lexicographicallyPrecedes(name) { low = middle + 1 } else { high = middle }
    }
    return false
  }

  /// The names with this beginning, at most `limit`.
  func beginning(with start: [UInt8], atMost limit: Int) -> [[UInt8]] {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if Self.slice(bytes, ranges[middle]).lexicographicallyPrecedes(start) { low = middle + 1 } else { high = middle }
    }
    return ranges[low...].prefix(limit).map { Array(Self.slice(bytes, $0)) }.prefix { $0.starts(with: start) }.map {
      $0
    }
  }

  private static func slice(_ bytes: [UInt8], _ range: (start: UInt32, count: UInt16)) -> ArraySlice<UInt8> {
    bytes[Int(range.start)..<(Int(range.start) + Int(range.count))]
  }
}
