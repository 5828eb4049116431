import Piconet

/// What a relay does for its members: it introduces each receiver to each sender, again and again while both are there,
/// so that they see one another. Receivers don't learn of receivers, nor senders of senders.
struct Introducing: Sendable {
  /// Two members that should know of one another.
  struct Pair: Hashable, Sendable {
    let sender: NodeID
    let receiver: NodeID
  }

  /// Who of the members takes files.
  private var receivers: Set<NodeID> = []
  private var senders: Set<NodeID> = []

  /// - Returns: the pairs that have come about, in the order of their nodes.
  mutating func joined(_ node: NodeID, isReceiver: Bool) -> [Pair] {
    left(node)
    if isReceiver {
      receivers.insert(node)
      return senders.sorted().map { Pair(sender: $0, receiver: node) }
    }
    senders.insert(node)
    return receivers.sorted().map { Pair(sender: node, receiver: $0) }
  }

  mutating func left(_ node: NodeID) {
    receivers.remove(node)
    senders.remove(node)
  }

  func contains(_ pair: Pair) -> Bool { senders.contains(pair.sender) && receivers.contains(pair.receiver) }

  /// How long one introduction stands: as long as one may.
  static let time = Duration.seconds(300)

  /// When the two are introduced anew.
  /// - Parameter failure: why the last introduction came to nothing; nil: they were members of one another.
  /// - Returns: nil: never again, one of them does not want it.
  static func pause(after failure: PiconetError?) -> Duration? {
    guard let failure else { return .seconds(15) }
    switch failure.code {
    // Nobody has said anything: it stands anew at once, so that the sender keeps seeing the receiver.
    case .timedOut: return .milliseconds(100)
    case .declined, .removed, .notSupported, .notConnected, .shuttingDown, .cancelled: return nil
    default: return .seconds(15)
    }
  }
}
