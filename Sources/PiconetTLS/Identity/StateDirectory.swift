import Glibc

/// The folder for what a device must remember: `$XDG_STATE_HOME/piconet` (XDG Base Directory Specification 0.8).
public struct StateDirectory: Sendable, Hashable {
  public let path: String

  /// - Parameter path: absolute.
  public init(path: String) { self.path = path }

  /// - Parameters:
  ///   - stateHome: the value of XDG_STATE_HOME; unset, empty or relative means `home`/.local/state.
  ///   - home: the value of HOME.
  public init(stateHome: String?, home: String?) throws(StateFailure) {
    if let stateHome, stateHome.hasPrefix("/") {
      path = "\(stateHome)/piconet"
    } else if let home, home.hasPrefix("/") {
      path = "\(home)/.local/state/piconet"
    } else {
      throw StateFailure(.noFolder, path: "piconet", "set HOME or XDG_STATE_HOME to an absolute path")
    }
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Creates the folder and missing parents, mode 0700, and checks that only this user can change it.
  func prepare() throws(StateFailure) {
    var end = path.utf8.startIndex
    while end < path.utf8.endIndex {
      end = path.utf8[path.utf8.index(after: end)...].firstIndex(of: UInt8(ascii: "/")) ?? path.utf8.endIndex
      let folder = String(path[..<end])
      if mkdir(folder, 0o700) != 0, errno != EEXIST {
        let error = errno
        // A read-only folder above is not an obstacle as long as the next one exists.
        var status = stat()
        if stat(folder, &status) != 0 { throw .system("mkdir", path: folder, error: error) }
      }
    }
    var status = stat()
    guard stat(path, &status) == 0 else { throw .system("stat", path: path) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw StateFailure(.damaged, path: path, "is not a folder") }
    guard status.st_uid == geteuid() else {
      throw StateFailure(.wrongOwner, path: path, "belongs to user \(status.st_uid), we are user \(geteuid())")
    }
    guard status.st_mode & 0o022 == 0 else {
      throw StateFailure(
        .permissionsTooOpen, path: path, "others may write in this folder; say: chmod 700 '\(path)'")
    }
  }

  /// Writes the folder's entries to the disk.
  func sync() throws(StateFailure) {
    let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system("open", path: path) }
    defer { Glibc.close(descriptor) }
    // Some file systems can't sync a folder and say so with EINVAL; the entry is then as safe as it gets there.
    if fsync(descriptor) != 0, errno != EINVAL { throw .system("fsync", path: path) }
  }
}
