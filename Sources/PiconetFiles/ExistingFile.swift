import Glibc

/// The existing file whose name another file of a sender is to get, as it was examined before. It must stay if it is a
/// file of the same sender as well.
///
/// If inode numbers are not stored, the path decides, in any spelling if the file system ignores case, and the content:
/// the file is read, if the sender has a file of its size.
struct ExistingFile {
  private let folder: IncomingFolder
  private let paths: [FileTrace]
  private let files: (any FilesOfSender)?
  /// The file that was read, and its digest.
  private var read: (stamp: FileStamp, digest: SHA256Digest?)?

  /// - Parameter ignoresCase: whether the file system does.
  init(
    _ name: SafeFileName, in folder: IncomingFolder, of files: (any FilesOfSender)?, ignoresCase: Bool
  ) throws(FileFailure) {
    self.folder = folder
    self.files = files
    let path = folder.trace(ofPath: name)
    paths = folder.directory.keepsInodes || !ignoresCase ? [path] : [path, folder.trace(ofSpelling: name)]
    guard !folder.directory.keepsInodes, let files, !paths.contains(where: files.contains),
      let status = try folder.status(of: name),
      FileKind(mode: status.st_mode) == .regular, files.contains(.size(UInt64(clamping: status.st_size)))
    else { return }
    let content = PresentContent(in: folder, exactly: name, status)
    while !content.step(.max) {}
    let stamp = FileStamp(status)
    read = (stamp, content.digest(of: name, stamp))
  }

  /// Returns whether the existing file belongs to the sender. Call it while no file is replaced.
  /// - Parameter status: the status of the file that has the name now.
  /// - Returns: nil if it has to be examined again.
  func isOfSender(_ status: stat) -> Bool? {
    guard let files else { return false }
    if paths.contains(where: files.contains) { return true }
    guard !folder.directory.keepsInodes else { return files.contains(FileIdentity(status).trace) }
    guard files.contains(.size(UInt64(clamping: status.st_size))) else { return false }
    guard let read, read.stamp == FileStamp(status) else { return nil }
    // A file that can't be read may be any file.
    return read.digest.map { files.contains(.content($0)) } ?? true
  }
}
