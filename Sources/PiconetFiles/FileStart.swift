import Glibc

/// A fingerprint that distinguishes a file from others of the same size without reading all of it: the first 16 bytes
/// of the SHA-256 of its first 64 KiB.
public struct FileStart: Hashable, Sendable {
  static let byteCount = 16
  static let readByteCount: UInt64 = 64 << 10

  let bytes: [UInt8]

  /// A value without information: no file has it.
  static let untold = FileStart(unchecked: [UInt8](repeating: 0, count: byteCount))

  private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

  init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  /// Nil if the file can't be read.
  init?(of file: FileDescriptor, size: UInt64) {
    let count = min(size, Self.readByteCount)
    guard let hash = RunningSHA256(), FileContent.add(file, from: 0, count: count, to: hash) == count,
      let digest = hash.finish()
    else { return nil }
    bytes = Array(digest.bytes.prefix(Self.byteCount))
  }

  /// Reads a regular file; a symbolic link is followed.
  static func read(path: String) -> (size: UInt64, start: FileStart)? {
    read { open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
  }

  /// Reads a regular file in a folder.
  static func read(_ name: SafeFileName, in folder: Int32) -> (size: UInt64, start: FileStart)? {
    read { openat(folder, name.text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
  }

  private static func read(_ open: () -> Int32) -> (size: UInt64, start: FileStart)? {
    let opened = FileDescriptor.retrying(open)
    guard opened.result >= 0 else { return nil }
    let file = FileDescriptor(opened.result)
    guard let status = file.status(), FileKind(mode: status.st_mode) == .regular else { return nil }
    let size = UInt64(clamping: status.st_size)
    return FileStart(of: file, size: size).map { (size, $0) }
  }
}
