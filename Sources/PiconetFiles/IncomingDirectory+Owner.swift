import Glibc
import Synchronization

/// The owner of the files that this process makes in the directory: on FAT, exFAT and NTFS the mount gives all files to
/// one user, who may be another user.
extension IncomingDirectory {
  /// Returns whether this process could have made the file: it belongs to this user, or to the user who owns the files
  /// that this one makes on this mount.
  func isOurs(_ status: stat) -> Bool {
    if status.st_uid == geteuid() { return true }
    let owner = ownerOfNewFiles.withLock { known in
      if let known { return known }
      // Determined once, and only if a file is another user's.
      let owner = makeFileForOwner()
      known = owner
      return owner
    }
    return owner == status.st_uid
  }

  /// Returns whether this is a regular file that this process could have made, with one name or none. It is not another
  /// user's, and not a link to something else.
  func isOwnRegularFile(_ status: stat) -> Bool {
    FileKind(mode: status.st_mode) == .regular && status.st_nlink <= 1 && isOurs(status)
  }

  /// Returns the owner of a file made for the purpose; this user if none can be made.
  private func makeFileForOwner() -> uid_t { (try? probe())?.st_uid ?? geteuid() }
}
