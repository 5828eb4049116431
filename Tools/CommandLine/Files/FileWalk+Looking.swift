import Glibc

extension FileWalk {
  /// The result of examining a regular file.
  struct Found {
    let size: Int64
    let kind: ImageKind?
    /// What it is if it is not an image.
    let otherwise: LeftOutFiles.Kind
    let identity: OfferedNames.Identity
    /// Why it can't be sent if it is not an image.
    var reason: GatheringFailure.Reason { size == 0 ? .empty : .notAnImage }
  }

  static func status(of path: LocalPath, followingLink: Bool = true) throws(GatheringFailure) -> stat {
    var status = stat()
    let result = path.withCString { followingLink ? stat($0, &status) : lstat($0, &status) }
    guard result == 0 else { throw GatheringFailure(path: path, reason: .system(errno)) }
    return status
  }

  /// Reads the beginning of a regular file. The type is checked before it is opened, since opening a device may do
  /// something, and afterwards, since the path may have come to mean something else. Opening never blocks.
  static func inspect(_ path: LocalPath, _ before: stat) throws(GatheringFailure) -> Found {
    guard before.st_mode & S_IFMT == S_IFREG else { throw GatheringFailure(path: path, reason: .notARegularFile) }
    let descriptor = awaitingDescriptor {
      path.withCString { open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) }
    }
    guard descriptor >= 0 else { throw GatheringFailure(path: path, reason: .system(errno)) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw GatheringFailure(path: path, reason: .system(errno)) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw GatheringFailure(path: path, reason: .notARegularFile) }

    var header = [UInt8](repeating: 0, count: ImageKind.headerLength)
    var filled = 0
    while filled < header.count {
      let count = header.withUnsafeMutableBytes { buffer in
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
        return pread(descriptor, rest.baseAddress, rest.count, off_t(filled))
      }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw GatheringFailure(path: path, reason: .system(errno)) }
      if count == 0 { break }
      filled += count
    }
    let start = Array(header.prefix(filled))
    return Found(
      size: Int64(status.st_size), kind: ImageKind(header: start), otherwise: LeftOutFiles.Kind(header: start),
      identity: OfferedNames.Identity(status))
  }
}

extension OfferedNames.Identity {
  init(_ status: stat) {
    self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }
}
