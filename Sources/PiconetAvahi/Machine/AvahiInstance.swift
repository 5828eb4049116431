import PiconetDNSSD

/// One instance as Avahi sees it on one interface, with the state of its resolution. Anything in it may be invented.
struct AvahiInstance: Sendable, Hashable {
  struct Key: Sendable, Hashable, Comparable {
    var interface: InterfaceID
    var label: [UInt8]

    static func < (left: Key, right: Key) -> Bool {
      left.interface != right.interface
        ? left.interface < right.interface : left.label.lexicographicallyPrecedes(right.label)
    }
  }

  /// The address and port to which it resolves.
  struct Finding: Sendable, Hashable {
    var address: IPAddress
    var port: UInt16
    var text: [[UInt8]]
  }

  enum Stage: Sendable, Hashable {
    /// It will be resolved at this time, or as soon afterwards as there is room.
    case waiting(until: Duration)
    /// Avahi was asked for a resolver.
    case asked(number: Int)
    case resolving(path: String)
    /// It is resolved, and the resolver goes on reporting changes. The place is the lower, the longer it is held.
    case found(path: String, Finding, place: Int)
  }

  /// Whether a program of this host publishes it.
  var isLocal: Bool
  var stage: Stage
  /// The pause before the next attempt.
  var pause = Self.firstPause

  static let firstPause = Duration.seconds(2)
  static let longestPause = MulticastDNS.longestResolveInterval

  init(isLocal: Bool, at now: Duration) {
    self.isLocal = isLocal
    stage = .waiting(until: now)
  }
}
