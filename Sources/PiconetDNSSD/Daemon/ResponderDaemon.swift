/// Another program that has the port of Multicast DNS to itself, and publishes and browses for this process. Used from
/// one thread.
public protocol ResponderDaemon: AnyObject {
  /// Sets the handler for reports about the errand; never from within `serve`.
  func setHandler(_ handler: @escaping (ResponderDaemonReport) -> Void)
  /// Replaces the errand. An idle one ends everything that was done before.
  func serve(_ errand: ResponderErrand)
}

/// A report of a daemon about its errand.
public enum ResponderDaemonReport: Sendable, Hashable {
  case status(ResponderDaemonStatus)
  /// A service of the errand is published under this label; nil: no longer.
  case published(Int, label: [UInt8]?)
  /// An instance that was found. Its report covers all interfaces on which the daemon sees it.
  case browsed(BrowserReport)
}

/// The extent to which a daemon can be used.
public enum ResponderDaemonStatus: Sendable, Hashable {
  /// It was not asked, or has not answered yet. That lasts a few seconds at most.
  case trying
  /// It browses, and publishes except over these families, by whether each is IPv6.
  case serving(lacking: [Bool: AvahiFailure])
  case failing(AvahiFailure)

  public var isServing: Bool { if case .serving = self { true } else { false } }

  /// Returns why our services are not published over a family; nil: they are, or that is not known yet.
  public func failure(isIPv6: Bool) -> AvahiFailure? {
    switch self {
    case .trying: nil
    case .serving(let lacking): lacking[isIPv6]
    case .failing(let failure): failure
    }
  }
}
