import CPiconetSystem
import Glibc

extension PartialFile {
  /// Gives the file the rights that a new file of this process has in the folder where it will get its name. Until then
  /// only its owner may access a file with a hidden name.
  /// - Returns: whether its content is in another file now, which has to be made durable.
  func takeRights(in folder: IncomingFolder) throws(FileFailure) -> Bool {
    if isUnnamed, home == folder.identity { return false }
    guard !hasModeOfMount else { return false }
    guard let model = try Self.openUnnamed(in: folder) else {
      if let rights = try rightsOfHidden(in: folder) { _ = rights.give(to: descriptor.number) }
      return false
    }
    guard let rights = FileRights(of: model.number), !rights.give(to: descriptor.number) else { return false }
    // A folder may give its files to a group to which this process may not give them. If there is no room for a copy,
    // the file has fewer rights.
    guard copyContent(to: model.number) else { return false }
    become(model, of: folder)
    return true
  }

  /// Returns the rights of a file that is made in the folder for the purpose.
  private func rightsOfHidden(in folder: IncomingFolder) throws(FileFailure) -> FileRights? {
    let name = PartialFileName.random().text
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let opened = FileDescriptor.retrying { openat(folder.number, name, flags, 0o666) }
    guard opened.result >= 0 else { throw folder.failure(errno: opened.errno) }
    let model = FileDescriptor(opened.result)
    let rights = FileRights(of: model.number)
    // In this order: FUSE renames an open file that loses its name.
    model.close()
    _ = unlinkat(folder.number, name, 0)
    return rights
  }

  private func copyContent(to target: Int32) -> Bool {
    guard let size = descriptor.status().map({ Int64($0.st_size) }) else { return false }
    var (from, to): (Int64, Int64) = (0, 0)
    while to < size {
      let copied = FileDescriptor.retrying {
        piconet_copy_file_range(descriptor.number, &from, target, &to, Int(size - to), 0)
      }
      guard copied.result > 0 else { return false }
    }
    return true
  }
}
