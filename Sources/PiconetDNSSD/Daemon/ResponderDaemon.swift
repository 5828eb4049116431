/// Another program that has the port of Multicast DNS to itself, and publishes and looks for us. Used from one thread.
public protocol ResponderDaemon: AnyObject {
  /// Sets who is told what becomes of the errand; never from within `serve`.
  func setHandler(_ handler: @escaping (ResponderDaemonReport) -> Void)
  /// Replaces the errand. An idle one ends everything that was done before.
  func serve(_ errand: ResponderErrand)
}

/// What a daemon tells of its errand.
public enum ResponderDaemonReport: Sendable, Hashable {
  case status(ResponderDaemonStatus)
  /// A service of the errand is published under this label; nil: not any more.
  case published(Int, label: [UInt8]?)
  /// What was found. One instance is told with all interfaces on which the daemon sees it.
  case browsed(BrowserReport)
}

/// How far a daemon can be used.
public enum ResponderDaemonStatus: Sendable, Hashable {
  /// It was not asked, or has not answered yet. That lasts a few seconds at most.
  case trying
  /// It looks for us, and publishes but for these families, by whether each is IPv6.
  case serving(lacking: [Bool: AvahiFailure])
  case failing(AvahiFailure)

  public var isServing: Bool { if case .serving = self { true } else { false } }

  /// Why our services are not published over a family; nil: they are, or that is not known yet.
  public func failure(isIPv6: Bool) -> AvahiFailure? {
    switch self {
    case .trying: nil
    case .serving(let lacking): lacking[isIPv6]
    case .failing(let failure): failure
    }
  }
}
