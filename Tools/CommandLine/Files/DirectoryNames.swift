import Glibc

/// The names in a directory, except hidden ones, sorted by their bytes: all in one piece of memory, since a directory
/// may have a million.
struct DirectoryNames: Sendable {
  private let bytes: [UInt8]
  private let ranges: [(start: UInt32, count: UInt16)]

  /// Throws the errno of the call that failed.
  init(of path: LocalPath) throws(SystemFailure) {
    guard let directory = path.withCString({ opendir($0) }) else { throw SystemFailure(number: errno) }
    defer { closedir(directory) }
    var bytes: [UInt8] = []
    var ranges: [(start: UInt32, count: UInt16)] = []
    while true {
      errno = 0
      guard let entry = readdir(directory) else {
        // readdir(3): null is both the end and an error; errno tells them apart.
        if errno != 0 { throw SystemFailure(number: errno) }
        break
      }
      withUnsafeBytes(of: &entry.pointee.d_name) { field in
        let count = field.firstIndex(of: 0) ?? field.count
        guard count > 0, field[0] != UInt8(ascii: "."), let start = UInt32(exactly: bytes.count) else { return }
        bytes.append(contentsOf: field[..<count])
        ranges.append((start, UInt16(count)))
      }
    }
    let all = bytes
    ranges.sort { Self.slice(all, $0).lexicographicallyPrecedes(Self.slice(all, $1)) }
    self.bytes = all
    self.ranges = ranges
  }

  var count: Int { ranges.count }

  subscript(index: Int) -> [UInt8] { Array(Self.slice(bytes, ranges[index])) }

  func contains(_ name: some Collection<UInt8>) -> Bool {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      let there = Self.slice(bytes, ranges[middle])
      if there.elementsEqual(name) { return true }
      if there.lexicographicallyPrecedes(name) { low = middle + 1 } else { high = middle }
    }
    return false
  }

  private static func slice(_ bytes: [UInt8], _ range: (start: UInt32, count: UInt16)) -> ArraySlice<UInt8> {
    bytes[Int(range.start)..<(Int(range.start) + Int(range.count))]
  }
}
