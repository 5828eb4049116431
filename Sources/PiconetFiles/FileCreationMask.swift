import Glibc

/// The umask of this process, read without changing it: umask(2) can only swap it, which would race with other threads.
enum FileCreationMask {
  /// Nil if /proc is not mounted.
  static var current: mode_t? {
    let opened = FileDescriptor.retrying { open("/proc/self/status", O_RDONLY | O_CLOEXEC) }
    guard opened.result >= 0 else { return nil }
    let descriptor = FileDescriptor(opened.result)
    // "Umask:" is the second line (proc_pid_status(5)).
    return withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { buffer in
      let count = FileDescriptor.retrying { read(descriptor.number, buffer.baseAddress, buffer.count) }.result
      guard count > 0 else { return nil }
      for line in buffer.prefix(count).split(separator: 0x0A) where line.starts(with: "Umask:".utf8) {
        let digits = line.drop { !(0x30...0x37).contains($0) }
        return mode_t(String(decoding: digits, as: UTF8.self), radix: 8)
      }
      return nil
    }
  }
}
