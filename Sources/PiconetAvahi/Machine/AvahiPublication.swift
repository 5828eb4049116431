import PiconetDNSSD

/// One of our services, in an entry group of Avahi.
struct AvahiPublication: Sendable {
  enum Stage: Sendable, Hashable {
    /// Avahi was asked for a group.
    case asked
    /// The group is empty: Avahi's server is not ready.
    case empty
    /// The entries are in it, and Avahi probes the name.
    case filled
    /// Avahi has announced it.
    case established
    /// A step has failed, or the name was taken too often.
    case pausing
  }

  var wanted: ServiceRegistration
  var places: [AvahiPlace]
  var stage = Stage.asked
  /// The path of the group; nil: Avahi has not given one.
  var path: String?
  /// Whether the group has entries, which have to go before there are others.
  var hasEntries = false
  /// Counts how often the group was filled: answers that are for an earlier time no longer count.
  var filling = 0
  /// The number of times that the name was taken, plus 1.
  var attempt = 1
  /// The times at which the name was recently taken.
  var conflicts: [Duration] = []
  /// The families over which it was found.
  var proven: Set<Bool> = []
  /// Why it is not published, by family. Kept until it is.
  var failures: [Bool: AvahiFailure] = [:]
  /// When the stage ends, if nothing ends it before.
  var deadline: Duration?

  init(_ wanted: ServiceRegistration, _ places: [AvahiPlace]) {
    self.wanted = wanted
    self.places = places
  }

  var label: [UInt8] { InstanceLabel.renamed(wanted.label, attempt: attempt) }
}
