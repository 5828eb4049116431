/// How many files are sent to one receiver at once: few large ones, since each of them fills the link, and many small
/// ones, which would otherwise wait for each other's round trips and for the receiver's disk.
struct FilesUnderWay: Sendable {
  private(set) var count = 0
  private var byteCount: Int64 = 0
  private let limit: Int

  /// - Parameter descriptors: how many this process may have open at once. Up to `peersAtOnce` receivers share those
  ///   that are left beside its own, and a file may take two.
  init(descriptors: Int) {
    limit = max(1, (descriptors - CommandLineLimits.ownDescriptors) / (2 * CommandLineLimits.peersAtOnce))
  }

  /// Whether another file may begin.
  func admits(_ file: GatheredFile) -> Bool {
    guard count < limit else { return false }
    if count < CommandLineLimits.filesAtOnce { return true }
    return count < CommandLineLimits.smallFilesAtOnce
      && byteCount + Self.byteCount(of: file) <= CommandLineLimits.smallBytesAtOnce
  }

  mutating func begin(_ file: GatheredFile) {
    count += 1
    byteCount += Self.byteCount(of: file)
  }

  /// - Parameter file: one that has begun.
  mutating func end(_ file: GatheredFile) {
    count -= 1
    byteCount -= Self.byteCount(of: file)
  }

  /// A URL counts as large, since its size is not known yet.
  private static func byteCount(of file: GatheredFile) -> Int64 {
    file.isURL ? CommandLineLimits.smallBytesAtOnce : min(file.size, CommandLineLimits.smallBytesAtOnce)
  }
}
