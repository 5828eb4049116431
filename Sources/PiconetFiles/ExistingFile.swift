import Glibc

/// The file that has a name which another one of a sender is to get, as it was looked at before: whether it is one of
/// that sender's as well, and has to stay.
///
/// Where inode numbers are not stored, that is seen by the path, in any spelling if the file system ignores case, and
/// by the content: it is read, if the sender has a file of its size.
struct ExistingFile {
  private let folder: IncomingFolder
  private let paths: [FileTrace]
  private let files: (any FilesOfSender)?
  /// What was read, and as what.
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

  /// To be asked while nothing is replaced.
  /// - Parameter status: what has the name now.
  /// - Returns: nil if it has to be looked at again.
  func isOfSender(_ status: stat) -> Bool? {
    guard let files else { return false }
    if paths.contains(where: files.contains) { return true }
    guard !folder.directory.keepsInodes else { return files.contains(FileIdentity(status).trace) }
    guard files.contains(.size(UInt64(clamping: status.st_size))) else { return false }
    guard let read, read.stamp == FileStamp(status) else { return nil }
    // One that can't be read may be any.
    return read.digest.map { files.contains(.content($0)) } ?? true
  }
}
