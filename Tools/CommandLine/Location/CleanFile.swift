import Glibc

/// A file as it may be sent: the original, or a copy without its location. The copy has no name and is gone with this
/// object, or with the program.
final class CleanFile: Sendable {
  /// The path that opens it, as long as this object lives.
  let path: String
  let size: Int64
  /// What its content is called in offers; nil: as the file system says. A copy is made anew in each run.
  let identity: [UInt8]?
  let takenOut: Set<LocationKind>
  private let descriptor: Int32

  init(_ descriptor: Int32, size: Int64, identity: [UInt8]? = nil, takenOut: Set<LocationKind> = []) {
    self.descriptor = descriptor
    path = "/proc/self/fd/\(descriptor)"
    (self.size, self.identity, self.takenOut) = (size, identity, takenOut)
  }

  deinit { close(descriptor) }
}
