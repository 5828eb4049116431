import Glibc

extension FileFailure {
  /// The purpose of a system call: the same errno means different things to a reader and to a writer.
  enum Operation {
    case readingFile
    case writingFile
  }

  /// The failure for an errno when only the operation is known. ENOSPC has its own maker, `diskFull`.
  init(errno number: Int32, _ operation: Operation, path: String) {
    let code: Code =
      switch (number, operation) {
      case (ENOENT, _): .missing
      case (ENOTDIR, .readingFile): .missing
      case (ENOTDIR, .writingFile): .notDirectory
      case (EACCES, .readingFile), (EPERM, .readingFile): .unreadable
      case (EACCES, .writingFile), (EPERM, .writingFile): .noPermission
      case (EROFS, _): .readOnly
      case (EDQUOT, _): .quotaExceeded
      case (ENOSPC, _): .diskFull(needed: 0, free: 0)
      case (EFBIG, _): .tooLarge(limit: nil)
      case (ENAMETOOLONG, _): .nameRefused(.tooLong)
      default: .ioError(number)
      }
    self.init(code, path: path, blame: .local)
  }
}
