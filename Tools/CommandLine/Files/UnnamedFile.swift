import CPiconetSystem
import Glibc

/// New files without names: their content is gone with their descriptor, and so with the program, however it ends.
enum UnnamedFile {
  /// The folder for them. Their content may be large, so they are not in memory, as /tmp may be.
  static var folder: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp" }

  /// Throws the errno of the call that failed.
  static func make() throws(SystemFailure) -> Int32 {
    let unnamed = awaitingDescriptor { piconet_unnamed_file(folder) }
    if unnamed >= 0 { return unnamed }
    // Some file systems have none.
    var template = Array("\(folder)/piconet.XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw SystemFailure(number: errno) }
    unlink(template)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }
}
