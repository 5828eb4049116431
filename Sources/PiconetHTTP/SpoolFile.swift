import CPiconetSystem
import Glibc

/// A file without a name, gone with its last user: one thread writes at its end, others read the bytes written so far.
final class SpoolFile: Sendable {
  private let descriptor: Int32

  /// - Parameter folder: on a disk with room; `/var/tmp` is meant for large files.
  init(in folder: String) throws(HTTPFailure) {
    var descriptor = open(folder, PICONET_O_TMPFILE | O_RDWR | O_CLOEXEC, 0o600)
    if descriptor < 0, [EOPNOTSUPP, EISDIR, EINVAL, ENOSYS].contains(errno) {
      var template = Array("\(folder)/piconet-XXXXXX".utf8CString)
      descriptor = mkstemp(&template)
      if descriptor >= 0 {
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      }
    }
    guard descriptor >= 0 else {
      throw HTTPFailure(.spool(errno), "no temporary file can be made in \(folder): error \(errno)")
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// - Returns: errno, or 0.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int32 {
    var done = 0
    while done < bytes.count {
      let count = pwrite(
        descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done, off_t(offset) + off_t(done))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? EIO : errno }
      done += count
    }
    return 0
  }

  /// - Returns: errno, or 0 if the whole buffer was filled.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int32 {
    var done = 0
    while done < buffer.count {
      let count = pread(
        descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done, off_t(offset) + off_t(done))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? EIO : errno }
      done += count
    }
    return 0
  }
}
