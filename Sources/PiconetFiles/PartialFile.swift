import CPiconetSystem
import Glibc

/// The file that collects bytes before it has its final name.
///
/// It is unnamed if the file system allows that, otherwise hidden under a `PartialFileName`. A hidden one is locked
/// (flock(2)) as long as its owner lives, so that a sweep can recognize abandoned ones. It is removed with its owner
/// unless published.
final class PartialFile {
  let directory: IncomingDirectory
  private(set) var descriptor: FileDescriptor
  private var hiddenName: PartialFileName?
  /// The folder in which an unnamed file was made; the file has its rights.
  private(set) var home: FileIdentity?
  /// Whether the mount decides who may read files, for all of them alike: a hidden file has bits for its group and for
  /// others although none were requested.
  let hasModeOfMount: Bool
  /// The name of its journal, which is beside it and is removed with it.
  private var journalName: String?

  /// The number of random names tried for one hidden file before giving up. A second try happens only when a sweep of
  /// another process takes the file between its creation and its lock.
  static let maximumDraws = 8
  private static let lockRetryMicroseconds: UInt32 = 1_000

  /// - Parameter folder: the folder in which the file will get its name. An unnamed one is made there, if the folder
  ///   exists.
  init(in directory: IncomingDirectory, for folder: SafeFolder = .none) throws(FileFailure) {
    self.directory = directory
    let place = (try? directory.open(folder, creating: false)) ?? directory.top
    if let unnamed = try Self.openUnnamed(in: place) {
      descriptor = unnamed
      home = place.identity
      hasModeOfMount = false
    } else {
      let hidden = try Self.openHidden(in: directory)
      descriptor = hidden.descriptor
      hiddenName = hidden.name
      hasModeOfMount = Self.hasBitsForOthers(hidden.descriptor)
    }
  }

  /// Opens the file that is kept under this name, or begins one. Nil if another transfer has it, or another entry is in
  /// the way: the caller then uses an ordinary one.
  init?(kept name: PartialFileName, in directory: IncomingDirectory) {
    guard let descriptor = Self.openKept(name, in: directory) else { return nil }
    self.directory = directory
    self.descriptor = descriptor
    hiddenName = name
    journalName = name.journal
    hasModeOfMount = Self.hasBitsForOthers(descriptor)
    FileNameClaim(partial: name, directory: directory).release()
  }

  deinit { discard() }

  private static func hasBitsForOthers(_ file: FileDescriptor) -> Bool { (file.status()?.st_mode ?? 0) & 0o077 != 0 }

  /// Removes the file. No effect once it is published.
  func discard() {
    if let hiddenName {
      removeJournal()
      _ = unlinkat(directory.descriptor.number, hiddenName.text, 0)
    }
    hiddenName = nil
    descriptor.close()
  }

  var isUnnamed: Bool { hiddenName == nil }

  /// Whether its hidden name in capitals leads to it as well: the file system ignores case.
  var isFoundInOtherCase: Bool {
    guard let hiddenName else { return false }
    return faccessat(directory.descriptor.number, hiddenName.text.uppercased(), F_OK, AT_SYMLINK_NOFOLLOW) == 0
  }

  /// Replaces it with another unnamed file of a folder, which has the same content.
  func become(_ other: FileDescriptor, of folder: IncomingFolder) {
    if let hiddenName { _ = unlinkat(directory.descriptor.number, hiddenName.text, 0) }
    hiddenName = nil
    descriptor.close()
    descriptor = other
    home = folder.identity
  }

  /// Leaves the file under its hidden name for the next transfer that opens it.
  func keep() {
    hiddenName = nil
    descriptor.close()
  }

  /// Called once the file has its final name, or is about to be removed.
  func removeJournal() {
    if let journalName { _ = unlinkat(directory.descriptor.number, journalName, 0) }
    journalName = nil
  }

  /// Gives the file this name in one step if the name is free; false if it is taken.
  func publish(as name: SafeFileName, in folder: IncomingFolder) throws(FileFailure) -> Bool {
    let number: Int32
    if let hiddenName {
      try checkIdentity(of: hiddenName)
      number = rename(hiddenName, withoutReplacing: name, in: folder)
    } else {
      number = linkOpenFile(as: name.text, in: folder.number)
    }
    switch number {
    case 0:
      hiddenName = nil
      return true
    case EEXIST: return false
    default: throw folder.failure(errno: number, name: name)
    }
  }

  /// Gives the file this name in one step, in place of the regular file that has it.
  ///
  /// Anything else that appears under the name just before the rename is replaced as an entry, or, if a directory,
  /// refused by the kernel; a link is never followed.
  ///
  /// The existing file's rights stay, as they do for a program that writes into it.
  /// - Returns: false if the disk can't do that: NTFS-3G does not replace a file with a very long name.
  func replace(_ name: SafeFileName, in folder: IncomingFolder) throws(FileFailure) -> Bool {
    if let rights = folder.rights(of: name) { _ = rights.give(to: descriptor.number) }
    let hidden = try appear()
    try checkIdentity(of: hidden)
    let number = directory.calls.rename(directory.descriptor.number, hidden.text, folder.number, name.text)
    guard number == 0 else {
      if number == EEXIST { return false }
      if number == EISDIR { throw FileFailure(.notRegular(.directory), path: folder.path(of: name)) }
      throw folder.failure(errno: number, name: name)
    }
    hiddenName = nil
    return true
  }

  /// Gives an unnamed file a hidden name: rename(2) can replace, linkat(2) can't.
  private func appear() throws(FileFailure) -> PartialFileName {
    if let hiddenName { return hiddenName }
    _ = descriptor.lock()
    let name = PartialFileName.random()
    let number = linkOpenFile(as: name.text, in: directory.descriptor.number)
    guard number == 0 else { throw directory.failure(errno: number, name: name.text) }
    hiddenName = name
    return name
  }

  private func linkOpenFile(as name: String, in folder: Int32) -> Int32 {
    let source = IncomingDirectory.link(to: descriptor)
    return linkat(AT_FDCWD, source, folder, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno
  }

  /// Checks that the name is still that of this file: no other file may be published in its place.
  private func checkIdentity(of name: PartialFileName) throws(FileFailure) {
    var named = stat()
    guard fstatat(directory.descriptor.number, name.text, &named, AT_SYMLINK_NOFOLLOW) == 0 else {
      let failure = directory.failure(errno: errno, name: name.text)
      throw failure.code == .missing ? FileFailure(.partialFileRemoved, path: failure.path) : failure
    }
    guard let own = descriptor.status(), own.st_ino == named.st_ino, own.st_dev == named.st_dev else {
      throw FileFailure(.partialFileRemoved, path: directory.path(of: name.text))
    }
  }

  /// - Returns: 0 or errno.
  private func rename(
    _ hidden: PartialFileName, withoutReplacing name: SafeFileName, in folder: IncomingFolder
  ) -> Int32 {
    let (own, calls) = (directory.descriptor.number, directory.calls)
    let number = calls.renameWithoutReplacing(own, hidden.text, folder.number, name.text)
    guard number == EINVAL || number == ENOSYS else { return number }
    // NFS and some FUSE file systems have no flags for rename; a hard link does not replace anything either.
    let linked = calls.link(own, hidden.text, folder.number, name.text)
    if linked == 0 { _ = unlinkat(own, hidden.text, 0) }
    guard FileNameClaim.withoutLinks.contains(linked) else { return linked }
    return FileNameClaim(partial: hidden, directory: directory).publish(as: name, in: folder)
  }

  /// Returns nil if the file system, or the lack of /proc, does not allow unnamed files.
  static func openUnnamed(in folder: IncomingFolder) throws(FileFailure) -> FileDescriptor? {
    guard folder.directory.settings.usesUnnamedFiles, access("/proc/thread-self/fd", X_OK) == 0 else { return nil }
    let flags = PICONET_O_TMPFILE | O_RDWR | O_CLOEXEC
    let opened = FileDescriptor.retrying { openat(folder.number, ".", flags, 0o666) }
    if opened.result >= 0 { return FileDescriptor(opened.result) }
    if [EOPNOTSUPP, EISDIR, EINVAL, ENOSYS].contains(opened.errno) { return nil }
    throw folder.failure(errno: opened.errno)
  }

  private static func openKept(_ name: PartialFileName, in directory: IncomingDirectory) -> FileDescriptor? {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    for _ in 0..<maximumDraws {
      let opened = FileDescriptor.retrying { openat(directory.descriptor.number, name.text, flags, 0o600) }
      guard opened.result >= 0 else { return nil }
      let descriptor = FileDescriptor(opened.result)
      // Without a lock, two processes might write into it.
      let locked = descriptor.lock()
      if locked == EWOULDBLOCK {
        // A process that only examines kept files holds the lock for an instant; a transfer that resumes one, for long.
        usleep(lockRetryMicroseconds)
        continue
      }
      guard locked == 0, let status = descriptor.status(), FileKind(mode: status.st_mode) == .regular,
        directory.isOurs(status)
      else { return nil }
      if status.st_nlink == 1 {
        // Its owner may have died after giving it its final rights.
        if status.st_mode & 0o077 != 0 { _ = fchmod(opened.result, 0o600) }
        return descriptor
      }
      // No name: a sweep has removed it between the two calls. Two names: a link stored it, and its owner died before
      // removing this name; or another process has linked another file here for us to write into. In both cases the
      // other name stays.
      if status.st_nlink > 1 { _ = unlinkat(directory.descriptor.number, name.text, 0) }
    }
    return nil
  }

  private static func openHidden(in directory: IncomingDirectory) throws(FileFailure)
    -> (name: PartialFileName, descriptor: FileDescriptor)
  {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    var mode: mode_t = 0o600
    for _ in 0..<maximumDraws {
      let name = PartialFileName.random()
      let opened = FileDescriptor.retrying { openat(directory.descriptor.number, name.text, flags, mode) }
      if opened.errno == EEXIST { continue }
      guard opened.result >= 0 else { throw directory.failure(errno: opened.errno, name: name.text) }
      let descriptor = FileDescriptor(opened.result)
      // ZFS with `aclmode=restricted`, and some FUSE file systems, allow no change of mode: such a file has the rights
      // of a new file from the beginning, or would never get them.
      if mode == 0o600, !hasBitsForOthers(descriptor), directory.calls.setMode(opened.result, mode) != 0 {
        mode = 0o666
        descriptor.close()
        _ = unlinkat(directory.descriptor.number, name.text, 0)
        continue
      }
      let locked = descriptor.lock()
      // A sweep holds the lock, or has removed the file already. Any other error (ENOLCK) means a file system without
      // locks, where no sweep gets one either.
      if locked == EWOULDBLOCK { continue }
      if (descriptor.status()?.st_nlink ?? 0) > 0 { return (name, descriptor) }
    }
    throw directory.failure(errno: EEXIST, name: PartialFileName.prefix)
  }
}
