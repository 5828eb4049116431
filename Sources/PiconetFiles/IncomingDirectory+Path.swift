import Glibc

/// The path of a directory, which may lead elsewhere by now: a stick was mounted over it, or it was moved to the trash.
extension IncomingDirectory {
  /// Returns the directory to which the path leads now, if that is another one than this.
  ///
  /// Throws `directoryVanished` if the path leads to no directory, and `directoryReplaced` if this process may not
  /// write to the other one because it is confined to this one. Otherwise throws the error of opening it.
  public func successor() throws(FileFailure) -> IncomingDirectory? {
    guard let lookupPath, let own = descriptor.status().map({ FileIdentity($0) }) else { return nil }
    let text = String(decoding: lookupPath.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    var status = stat()
    guard stat(lookupPath, &status) == 0 else {
      let number = errno
      if number == ENOENT || number == ENOTDIR { throw FileFailure(.directoryVanished, path: text) }
      throw FileFailure(errno: number, .writingFile, path: text)
    }
    if FileIdentity(status) == own || !keepsInodes && showsEntries(at: lookupPath) { return nil }
    let other = try IncomingDirectory(path: text, settings: settings, calls: calls, now: now)
    do throws(FileFailure) {
      _ = try other.probe()
    } catch {
      // The permissions were checked when it was opened.
      throw error.code == .noPermission ? FileFailure(.directoryReplaced, path: text) : error
    }
    return other
  }

  /// Whether a path leads to it: no path does if it was removed, or if something is mounted over it.
  var isReachable: Bool {
    guard exists else { return false }
    guard let path = Self.path(of: descriptor), let own = descriptor.status() else { return true }
    var status = stat()
    return stat(path, &status) == 0
      && (FileIdentity(status) == FileIdentity(own) || !keepsInodes && showsEntries(at: path))
  }

  /// Returns whether a file that is made here for a moment is seen through a path, which then leads here. Some disks
  /// over FUSE or over a network give a directory another inode number at each look.
  func showsEntries(at path: [CChar]) -> Bool {
    var isSeen = false
    _ = try? probe { name in
      var status = stat()
      isSeen = lstat(path.dropLast() + "/\(name)".utf8CString, &status) == 0
    }
    return isSeen
  }

  /// Makes an empty file for a moment, and returns its status.
  /// - Parameter body: called with its name while it exists.
  func probe(_ body: (_ name: String) -> Void = { _ in }) throws(FileFailure) -> stat {
    let name = PartialFileName.random()
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let opened = FileDescriptor.retrying { openat(descriptor.number, name.text, flags, 0o600) }
    guard opened.result >= 0 else { throw failure(errno: opened.errno, name: name.text) }
    let file = FileDescriptor(opened.result)
    let status = file.status()
    file.close()
    body(name.text)
    _ = unlinkat(descriptor.number, name.text, 0)
    guard let status else { throw failure(errno: EIO, name: name.text) }
    return status
  }

  /// Returns a path for later lookups. An absolute path stays as it was given, since a link in it may come to lead
  /// elsewhere. Others depend on the working directory, or on an open descriptor.
  static func lookupPath(of given: String, _ descriptor: FileDescriptor) -> [CChar]? {
    given.hasPrefix("/") && !given.hasPrefix("/proc/") ? Array(given.utf8CString) : path(of: descriptor)
  }

  /// Returns the path that the kernel reports, absolute and with a zero at the end; nil if it can't say.
  static func path(of descriptor: FileDescriptor) -> [CChar]? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
      guard let start = buffer.baseAddress else { return nil }
      let count = readlink(link(to: descriptor), start, buffer.count)
      guard count > 0, count < buffer.count, buffer[0] == 0x2F else { return nil }
      return Array(buffer.prefix(count)) + [0]
    }
  }
}
