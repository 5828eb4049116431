import PiconetDBusValues

/// The state of BlueZ on this machine, read without changing anything.
public struct BlueZStatus: Sendable, Hashable {
  /// How far the question got.
  public enum Daemon: Sendable, Hashable {
    /// The system bus can't be reached.
    case noBus(DBusFailure)
    /// The name org.bluez has no owner.
    case notRunning
    /// It runs but does not answer; with `AccessDenied` the bus's policy refuses access.
    case refused(DBusFailure)
    case running
  }

  public var daemon: Daemon
  /// Such as `5.66`; nil if no adapter says so.
  public var version: String?
  /// In the order of their paths.
  public var adapters: [BlueZAdapter]
  /// Why this user may not register a profile, which others need to find this node over BR/EDR; nil: it may, or did not
  /// ask.
  public var profileRefusal: DBusFailure?

  public init(daemon: Daemon, tree: ObjectTree = ObjectTree(), profileRefusal: DBusFailure? = nil) {
    self.daemon = daemon
    self.profileRefusal = profileRefusal
    adapters = tree.adapters.values.sorted { ($0.path.utf8.count, $0.path) < ($1.path.utf8.count, $1.path) }
    version = adapters.lazy.compactMap(\.daemonVersion).first
  }
}
