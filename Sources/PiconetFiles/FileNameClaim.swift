import Glibc

/// The way a complete file gets its name if the file system can neither rename without replacing nor make hard links
/// (exFAT, FAT over FUSE). An empty file takes the name, if it is free, and the complete one then replaces the empty
/// one.
///
/// So that a crash leaves no empty file in its place, a note beside the partial file says which name is being taken:
/// `.piconet-<...>.claim`, the path below the directory and a line feed. While the partial file exists, it has not got
/// the name yet.
struct FileNameClaim {
  let partial: PartialFileName
  let directory: IncomingDirectory

  private var own: Int32 { directory.descriptor.number }

  /// The errors of linkat(2) if there are no hard links.
  static let withoutLinks: Set<Int32> = [EPERM, EOPNOTSUPP, ENOSYS, EMLINK, EINVAL]

  /// Gives the partial file this name. Only its owner may call it.
  /// - Returns: 0, or errno; EEXIST if the name is taken. In that case only the partial file is left.
  func publish(as name: SafeFileName, in folder: IncomingFolder) -> Int32 {
    let noted = writeNote(folder.relativePath(of: name))
    defer { _ = unlinkat(own, partial.claim, 0) }
    guard noted == 0 else { return noted }
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let opened = FileDescriptor.retrying { openat(folder.number, name.text, flags, 0o600) }
    guard opened.result >= 0 else { return opened.errno }
    let place = FileDescriptor(opened.result)
    // Another process may have put another file there, or have written into this one.
    guard isStill(place, name, in: folder) else { return EEXIST }
    let number = directory.calls.rename(own, partial.text, folder.number, name.text)
    if number != 0, isStill(place, name, in: folder) { _ = unlinkat(folder.number, name.text, 0) }
    return number
  }

  /// Removes the note of a dead owner, and its empty file if that was not replaced. The partial file stays. The caller
  /// must hold the partial file's lock.
  func release() {
    if let (folder, name) = readNote(), isEmpty(name, in: folder) { _ = unlinkat(folder.number, name.text, 0) }
    _ = unlinkat(own, partial.claim, 0)
  }

  /// Same as `release`, for a caller without the lock: no effect while the owner lives.
  func releaseIfAbandoned() {
    var status = stat()
    if fstatat(own, partial.text, &status, AT_SYMLINK_NOFOLLOW) != 0, errno == ENOENT {
      // The partial file has got its name, or no longer exists: an empty file under that name may be another program's.
      _ = unlinkat(own, partial.claim, 0)
    } else {
      _ = directory.whileAbandoned(partial) { _ in release() }
    }
  }

  private func writeNote(_ path: String) -> Int32 {
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC
    let opened = FileDescriptor.retrying { openat(own, partial.claim, flags, 0o600) }
    guard opened.result >= 0 else { return opened.errno }
    let note = FileDescriptor(opened.result)
    let bytes = Array(path.utf8) + [0x0A]
    let written = bytes.withUnsafeBytes { bytes in
      FileDescriptor.retrying { write(note.number, bytes.baseAddress, bytes.count) }
    }
    guard written.result == bytes.count else { return written.result < 0 ? written.errno : ENOSPC }
    // Must come before the empty file can reach the disk. On a file system that can't, this does no harm.
    _ = fdatasync(note.number)
    return 0
  }

  /// Returns nil if the note is torn, or is not a note: only a name that a peer's file may have is ever touched.
  private func readNote() -> (IncomingFolder, SafeFileName)? {
    let opened = FileDescriptor.retrying {
      openat(own, partial.claim, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    }
    guard opened.result >= 0 else { return nil }
    let note = FileDescriptor(opened.result)
    guard let status = note.status(), directory.isOwnRegularFile(status) else { return nil }
    var bytes = [UInt8](repeating: 0, count: 2 * SafeFolder.maximumByteCount + 2)
    let count = bytes.withUnsafeMutableBytes { buffer in
      FileDescriptor.retrying { read(note.number, buffer.baseAddress, buffer.count) }.result
    }
    guard count > 1, bytes[count - 1] == 0x0A else { return nil }
    guard let (components, name) = SafeFolder.split(bytes[..<(count - 1)]),
      let folder = directory.openExactly(components)
    else { return nil }
    return (folder, name)
  }

  /// Returns whether the name is that of an empty file of this user.
  private func isEmpty(_ name: SafeFileName, in folder: IncomingFolder) -> Bool {
    var status = stat()
    return fstatat(folder.number, name.text, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_size == 0
      && directory.isOwnRegularFile(status)
  }

  /// Returns whether the name is still that of the empty file that was just made. The owner is not compared: some
  /// mounts give all files to one user.
  private func isStill(_ place: FileDescriptor, _ name: SafeFileName, in folder: IncomingFolder) -> Bool {
    var named = stat()
    guard fstatat(folder.number, name.text, &named, AT_SYMLINK_NOFOLLOW) == 0, let own = place.status() else {
      return false
    }
    return own.st_ino == named.st_ino && own.st_dev == named.st_dev && own.st_size == 0
  }
}
