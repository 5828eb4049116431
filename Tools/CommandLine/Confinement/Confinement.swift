import CPiconetSystem
import Glibc

/// A program that talks to strangers gives up writing anywhere but where it has to, with Landlock (landlock(7)): a
/// fault in it can then do harm only in these places. Reading is not restricted, nor are sockets, among them those of
/// D-Bus and of the service manager, and descriptors that are already open.
package enum Confinement {
  package enum Outcome: Hashable, Sendable {
    case confined
    /// The kernel can't do it; the reason continues a sentence about the kernel.
    case unavailable(String)
    /// In the system's words.
    case failed(String)
  }

  /// For good. It holds for the calling thread and for what that starts from now on, so call it before there is any
  /// other. A place that is not there is left out, and nothing can be made in its place.
  package static func begin(_ places: WritablePlaces) -> Outcome {
    let version: Int32
    switch LandlockSupport.current {
    case .usable(let usable): version = usable
    case .missing(let reason): return .unavailable(reason)
    }
    let rights = piconet_landlock_write_rights(version)
    let rules = piconet_landlock_new(rights)
    guard rules >= 0 else { return .failed(ErrorNumber.text(errno)) }
    defer { close(rules) }
    for (paths, isDirectory) in [(places.directories, true), (places.files, false)] {
      for path in paths {
        let result = path.withCString { piconet_landlock_allow(rules, rights, $0, isDirectory) }
        // Without the rule for a place that is there, nothing could be stored in it, and no one would know why.
        guard result < 0, ![ENOENT, ENOTDIR, EACCES].contains(errno) else { continue }
        return .failed(ErrorNumber.text(errno))
      }
    }
    guard piconet_landlock_restrict(rules) == 0 else { return .failed(ErrorNumber.text(errno)) }
    return .confined
  }
}
