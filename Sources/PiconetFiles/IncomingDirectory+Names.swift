import Glibc

/// Names that are valid on Linux, but not on the disk of the directory.
extension IncomingDirectory {
  /// Throws `nameRefused(.tooLong)` if the name of the file or of a folder is longer than the file system takes:
  /// eCryptfs, which encrypts names, takes 143 bytes. If no folder exists yet, no other check would report that before
  /// the file has come.
  func checkLength(of name: SafeFileName, in folder: SafeFolder) throws(FileFailure) {
    let names = folder.components + [name]
    guard names.contains(where: { $0.text.utf8.count > longestName }) else { return }
    let path = path(of: names.map(\.text).joined(separator: "/"))
    throw FileFailure(.nameRefused(.tooLong), path: path, blame: .local)
  }

  /// Returns the name with a number, shortened as far as the file system requires.
  func numbered(_ name: SafeFileName, _ number: Int) -> SafeFileName { name.numbered(number, fitting: longestName) }

  /// Throws `nameRefused` with `tooLong` or `notOnThisDisk` if the file system does not accept the name of the file or
  /// of a folder. The file system checks characters only when a file is made. So this makes an empty file for a moment,
  /// under a hidden name with the same characters. Ordinary names cost nothing.
  func checkCharacters(of name: SafeFileName, in folder: SafeFolder = .none) throws(FileFailure) {
    try checkLength(of: name, in: folder)
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
    // Kernels return the first error, exFAT over FUSE the second, even though the directory exists.
    guard opened.errno == EINVAL || opened.errno == ENOENT, exists else { return }
    let path = path(of: names.map(\.text).joined(separator: "/"))
    throw FileFailure(.nameRefused(.notOnThisDisk), path: path, blame: .local)
  }
}
