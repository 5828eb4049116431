import CPiconetSystem
import Glibc

/// Restricts the places where a program that talks to strangers may write, with Landlock (landlock(7)): a fault in it
/// can then do harm only in these places. Reading is not restricted. Neither are sockets, including those of D-Bus and
/// of the service manager, nor descriptors that are already open.
package enum Confinement {
  package enum Outcome: Hashable, Sendable {
    case confined
    /// The kernel can't do it; the reason continues a sentence about the kernel.
    case unavailable(String)
    /// In the system's words.
    case failed(String)
  }

  /// Restricts the process for good. It holds for the calling thread and for threads and processes that it starts from
  /// now on, so call it before there are other threads. A place that does not exist is left out, and nothing can be
  /// created there.
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
        // Without the rule for an existing place, nothing could be stored in it, and no one would know why.
        guard result < 0, ![ENOENT, ENOTDIR, EACCES].contains(errno) else { continue }
        return .failed(ErrorNumber.text(errno))
      }
    }
    guard piconet_landlock_restrict(rules) == 0 else { return .failed(ErrorNumber.text(errno)) }
    return .confined
  }
}
