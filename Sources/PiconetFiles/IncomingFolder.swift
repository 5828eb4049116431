import CPiconetSystem
import Glibc

/// A folder below a receiving directory, or the directory itself, opened, in which a file gets its name. Confined to
/// one thread.
final class IncomingFolder {
  let directory: IncomingDirectory
  let descriptor: FileDescriptor
  /// The path from the directory to the folder, including the numbers that folders were given.
  let components: [SafeFileName]

  init(_ directory: IncomingDirectory, _ descriptor: FileDescriptor, _ components: [SafeFileName]) {
    self.directory = directory
    self.descriptor = descriptor
    self.components = components
  }

  var number: Int32 { descriptor.number }

  /// Returns the path of an entry, below the receiving directory.
  func relativePath(of name: SafeFileName) -> String { (components + [name]).map(\.text).joined(separator: "/") }

  func path(of name: SafeFileName) -> String { directory.path(of: relativePath(of: name)) }

  /// Whether the folder still has a name.
  var exists: Bool { (descriptor.status()?.st_nlink ?? 0) > 0 }

  /// Returns the status of an entry, symbolic links not followed; nil if it does not exist.
  ///
  /// For a second, the kernel remembers FUSE's answer for a file by this name; under another spelling of it the file
  /// may have been replaced meanwhile. So FUSE is asked again.
  func status(of name: SafeFileName) throws(FileFailure) -> stat? {
    var status = stat()
    if !directory.keepsInodes { piconet_refresh_status(number, name.text) }
    if fstatat(number, name.text, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status }
    let number = errno
    guard number == ENOENT else { throw failure(errno: number, name: name) }
    return nil
  }

  func kind(of name: SafeFileName) throws(FileFailure) -> FileKind? {
    try status(of: name).map { FileKind(mode: $0.st_mode) }
  }

  func failure(errno number: Int32, name: SafeFileName) -> FileFailure {
    exists || number != ENOENT && number != ESTALE
      ? directory.failure(errno: number, name: relativePath(of: name)) : failure(errno: number)
  }

  /// Returns the failure of a system call on the folder itself.
  func failure(errno number: Int32) -> FileFailure {
    let path = components.isEmpty ? "." : components.map(\.text).joined(separator: "/")
    guard number == ENOENT || number == ESTALE, !exists else { return directory.failure(errno: number, name: path) }
    return FileFailure(.directoryVanished, path: directory.path(of: path))
  }

  /// Nil if the system can't say.
  var identity: FileIdentity? { descriptor.status().map { FileIdentity($0) } }

  /// Returns the rights of the file that has a name here; nil if no file has it.
  func rights(of name: SafeFileName) -> FileRights? {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    let opened = FileDescriptor.retrying { openat(number, name.text, flags) }
    guard opened.result < 0 else {
      let file = FileDescriptor(opened.result)
      return FileRights(of: file.number)
    }
    return ((try? status(of: name)) ?? nil).map { FileRights(ofUnreadable: $0) }
  }

  /// Calls back with the name of each entry that is UTF-8, in no particular order.
  func forEachEntry(_ body: (String) -> Void) {
    // Needs its own descriptor: reading moves the position, and closedir closes it.
    let opened = FileDescriptor.retrying { openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard opened.result >= 0 else { return }
    guard let stream = fdopendir(opened.result) else {
      _ = close(opened.result)
      return
    }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let text = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
          String(validatingCString: $0)
        }
      }
      if let text { body(text) }
    }
  }

  /// Makes the entries durable. A file system that can't is not treated as a failure.
  func synchronize() throws(FileFailure) {
    let outcome = directory.calls.synchronizeEntries(number)
    guard outcome != 0, outcome != EROFS, !FileSystemCalls.unsynchronized.contains(outcome) else { return }
    throw directory.failure(errno: outcome, name: components.map(\.text).joined(separator: "/"))
  }
}

extension IncomingDirectory {
  /// The directory itself.
  var top: IncomingFolder { IncomingFolder(self, descriptor, []) }

  /// The directory itself, opened again. A disk error is reported once per open file, so a commit that makes an entry
  /// durable must not share one with other commits.
  private var topOfItsOwn: IncomingFolder {
    let opened = FileDescriptor.retrying { openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    return opened.result < 0 ? top : IncomingFolder(self, FileDescriptor(opened.result), [])
  }

  /// The numbers that are tried for another folder if the name is taken by something else.
  static let maximumFolderNumber = 100
  /// How often a folder that disappears at once is created again.
  static let folderTries = 16

  /// Opens a folder, one component after the other, each in the one before. A symbolic link is never followed: it
  /// counts as another entry that has the name, as a file does, and the folder gets a number. The same path leads to
  /// the same folder as long as the entries do not change.
  /// - Parameter creating: false: returns nil if the folder does not exist.
  func open(_ folder: SafeFolder, creating: Bool) throws(FileFailure) -> IncomingFolder? {
    var current = creating && folder.components.isEmpty ? topOfItsOwn : top
    for component in folder.components {
      guard let next = try open(component, in: current, creating: creating) else { return nil }
      current = next
    }
    return current
  }

  /// Opens the folder with exactly these names; nil if one does not exist, or is not a folder.
  func openExactly(_ components: [SafeFileName]) -> IncomingFolder? {
    var current = top
    for component in components {
      guard case .opened(let next) = Self.look(at: component, in: current) else { return nil }
      current = next
    }
    return current
  }

  private enum Look {
    case opened(IncomingFolder)
    case missing
    /// The name belongs to something else.
    case taken
    case failed(FileFailure)
  }

  private func open(
    _ component: SafeFileName, in parent: IncomingFolder, creating: Bool
  ) throws(FileFailure) -> IncomingFolder? {
    for number in 1...Self.maximumFolderNumber {
      let name = number == 1 ? component : numbered(component, number)
      var look = Self.look(at: name, in: parent)
      var tries = Self.folderTries
      while case .missing = look, tries > 0 {
        guard creating else { return nil }
        tries -= 1
        // In between, another process may create it, put something else there, or remove it.
        try make(name, in: parent)
        look = Self.look(at: name, in: parent)
      }
      switch look {
      case .opened(let folder):
        if creating, foldersBeingMade.contains(folder.components) { try parent.synchronize() }
        return folder
      case .taken: continue
      case .missing: throw parent.failure(errno: ENOENT, name: name)
      case .failed(let failure): throw failure
      }
    }
    throw FileFailure(.exists, path: parent.path(of: component))
  }

  /// Creates a folder durably, or leaves the entry that has the name.
  private func make(_ name: SafeFileName, in parent: IncomingFolder) throws(FileFailure) {
    try foldersBeingMade.making(parent.components + [name]) { () throws(FileFailure) in
      if mkdirat(parent.number, name.text, 0o777) == 0 {
        try parent.synchronize()
      } else if errno != EEXIST {
        throw parent.failure(errno: errno, name: name)
      }
    }
  }

  private static func look(at name: SafeFileName, in parent: IncomingFolder) -> Look {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    let opened = FileDescriptor.retrying { openat(parent.number, name.text, flags) }
    guard opened.result >= 0 else {
      switch opened.errno {
      case ENOENT: return .missing
      case ENOTDIR, ELOOP: return .taken
      default: return .failed(parent.failure(errno: opened.errno, name: name))
      }
    }
    let descriptor = FileDescriptor(opened.result)
    // A file gets its name by a rename, which works only within one file system.
    guard descriptor.status()?.st_dev == parent.descriptor.status()?.st_dev else {
      return .failed(FileFailure(.otherFileSystem, path: parent.path(of: name)))
    }
    return .opened(IncomingFolder(parent.directory, descriptor, parent.components + [name]))
  }
}
