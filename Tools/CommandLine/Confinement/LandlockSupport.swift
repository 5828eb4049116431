import CPiconetSystem
import Glibc

/// Whether the kernel's Landlock is enough for `Confinement`.
enum LandlockSupport: Hashable, Sendable {
  /// The version of its interface.
  case usable(Int32)
  /// Why not, to continue a sentence about the kernel.
  case missing(String)

  static var current: LandlockSupport {
    let version = piconet_landlock_version()
    return LandlockSupport(version: version, error: errno)
  }

  /// With version 1 no file could be moved into another directory, as those that come with folders are.
  static let leastVersion: Int32 = 2

  /// - Parameters:
  ///   - version: less than 0 where the kernel gives none.
  ///   - error: why it gives none.
  init(version: Int32, error: Int32) {
    guard version < Self.leastVersion else {
      self = .usable(version)
      return
    }
    self =
      switch (version, error) {
      case (0..., _): .missing("its Landlock is of version \(version), and \(Self.leastVersion) is needed")
      case (_, ENOSYS): .missing("it was built without Landlock")
      case (_, EOPNOTSUPP): .missing("its Landlock is turned off")
      default: .missing("its Landlock can't be used: \(ErrorNumber.text(error))")
      }
  }
}
