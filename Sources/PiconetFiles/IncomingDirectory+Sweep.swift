import Glibc

extension IncomingDirectory {
  /// Removes the hidden partial files of processes that died. Gives their number.
  ///
  /// A living owner holds a lock on its file, so this may run at any time, beside other receivers in the same
  /// directory. Only regular files of this user are touched. What can't be read or removed is left alone.
  @discardableResult
  public func sweepAbandonedPartials() -> Int {
    // A descriptor of its own: reading moves the position, and closedir closes it.
    let opened = FileDescriptor.retrying { openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard opened.result >= 0 else { return 0 }
    guard let stream = fdopendir(opened.result) else {
      _ = close(opened.result)
      return 0
    }
    defer { closedir(stream) }
    var count = 0
    while let entry = readdir(stream) {
      let text = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
          String(validatingCString: $0)
        }
      }
      if let text, let name = PartialFileName(text), removeIfAbandoned(name) { count += 1 }
    }
    return count
  }

  private func removeIfAbandoned(_ name: PartialFileName) -> Bool {
    let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let opened = FileDescriptor.retrying { openat(descriptor.number, name.text, flags) }
    guard opened.result >= 0 else { return false }
    let file = FileDescriptor(opened.result)
    guard let status = file.status(), FileKind(mode: status.st_mode) == .regular, status.st_uid == geteuid(),
      flock(file.number, LOCK_EX | LOCK_NB) == 0
    else { return false }
    // The lock is held until the name is gone: an owner that was slower than us sees that its file has none.
    return unlinkat(descriptor.number, name.text, 0) == 0
  }
}
