import CPiconetSystem
import Glibc

/// A program that talks to strangers gives up writing anywhere but where it has to, with Landlock (landlock(7)): what a
/// fault in it could be used for then ends at these places. Not restricted are reading, sockets, among them those of
/// D-Bus and of the service manager, and descriptors that are open already.
package enum Confinement {
  package enum Outcome: Hashable, Sendable {
    case confined
    /// The kernel has not what it takes; the reason goes on a sentence about the kernel.
    case unavailable(String)
    /// In the system's words.
    case failed(String)
  }

  /// For good. It holds for the calling thread and for what that starts from now on, so call it before there is any
  /// other. A place that is not there is left out, and nothing can be made in its stead.
  package static func begin(_ places: WritablePlaces) -> Outcome {
    let version: Int32
    switch LandlockSupport.current {
    case .usable(let usable): version = usable
    case .missing(let reason): return .unavailable(reason)
    }
    let rights = piconet_landlock_write_rights(version)
    let rules = piconet_landlock_new(rights)
    guard rules >= 0 else { return .failed(SystemError.text(errno)) }
    defer { close(rules) }
    for (paths, isDirectory) in [(places.directories, true), (places.files, false)] {
      for path in paths {
        let result = path.withCString { piconet_landlock_allow(rules, rights, $0, isDirectory) }
        // Without the rule for a place that is there, nothing could be stored in it, and nobody would know why.
        guard result < 0, ![ENOENT, ENOTDIR, EACCES].contains(errno) else { continue }
        return .failed(SystemError.text(errno))
      }
    }
    guard piconet_landlock_restrict(rules) == 0 else { return .failed(SystemError.text(errno)) }
    return .confined
  }
}
