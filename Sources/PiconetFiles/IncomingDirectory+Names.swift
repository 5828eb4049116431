import Glibc

/// Names that are fine on Linux, but not on the disk that holds the directory.
extension IncomingDirectory {
  /// Throws `nameRefused(.notOnThisDisk)` if the file system does not accept the name of the file or of a folder. That
  /// only shows when a file is made: an empty one for a moment, under a hidden name with the same characters. Ordinary
  /// names cost nothing.
  func checkCharacters(of name: SafeFileName, in folder: SafeFolder = .none) throws(FileFailure) {
    let names = folder.components + [name]
    let characters = SafeFileName.notOnCards.filter { character in names.contains { $0.text.utf8.contains(character) } }
    guard !characters.isEmpty else { return }
    let probe = PartialFileName.random().probe(of: characters)
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let opened = FileDescriptor.retrying { openat(descriptor.number, probe, flags, 0o600) }
    if opened.result >= 0 {
      let file = FileDescriptor(opened.result)
      file.close()
      _ = unlinkat(descriptor.number, probe, 0)
      return
    }
    // Kernels give the first error, exFAT by way of FUSE the second, even though the directory exists.
    guard opened.errno == EINVAL || opened.errno == ENOENT, exists else { return }
    let path = path(of: names.map(\.text).joined(separator: "/"))
    throw FileFailure(.nameRefused(.notOnThisDisk), path: path, blame: .local)
  }
}
