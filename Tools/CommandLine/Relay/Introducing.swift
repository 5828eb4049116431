import Piconet

/// The introductions of a relay for its members: it introduces each receiver to each sender, again and again while both
/// are members, so that they see one another. Receivers don't learn of receivers, nor senders of senders.
struct Introducing: Sendable {
  /// Two members that should know of one another.
  struct Pair: Hashable, Sendable {
    let sender: NodeID
    let receiver: NodeID
  }

  /// The members that take files.
  private var receivers: Set<NodeID> = []
  private var senders: Set<NodeID> = []
  /// Pairs that are being introduced, also while one of them is away for a moment.
  private var underWay: Set<Pair> = []

  /// - Returns: the pairs that have come about, in the order of their nodes.
  mutating func joined(_ node: NodeID, isReceiver: Bool) -> [Pair] {
    left(node)
    if isReceiver {
      receivers.insert(node)
      return begin(senders.sorted().map { Pair(sender: $0, receiver: node) })
    }
    senders.insert(node)
    return begin(receivers.sorted().map { Pair(sender: node, receiver: $0) })
  }

  private mutating func begin(_ pairs: [Pair]) -> [Pair] { pairs.filter { underWay.insert($0).inserted } }

  /// Whether the pair is still to be introduced; if not, it is no longer under way.
  mutating func goesOn(_ pair: Pair) -> Bool {
    if contains(pair) { return true }
    underWay.remove(pair)
    return false
  }

  mutating func left(_ node: NodeID) {
    receivers.remove(node)
    senders.remove(node)
  }

  func contains(_ pair: Pair) -> Bool { senders.contains(pair.sender) && receivers.contains(pair.receiver) }

  /// Returns whether a person at the relay may want to know why the two are not brought together. An introduction
  /// stands without an answer until one of the two sends. One whose member goes, or that is under way already, is made
  /// again.
  static func isWorthTelling(_ failure: PiconetError) -> Bool {
    switch failure.code.known {
    case .timedOut, .notConnected, .shuttingDown, .cancelled, .inProgress: false
    case .declined, .removed, .notSupported, .full, .version, .identity, .codeMismatch, .codeNeeded, .wrongCode,
      .wrongSession, .unreachable, .notAvailable, .linkFailed, .protocolBroken, .limitExceeded, .left,
      .alreadyConnected, .messageTooLarge, .sourceUnreadable, .sourceChanged, .nameRefused, .tooLarge, .diskFull,
      .noPermission, .exists, .digestMismatch, .sizeMismatch, .directoryVanished, .notWanted, .storageFailed,
      .tooManyTransfers, .invalidArgument, .state, .internalError, nil:
      true
    }
  }

  /// How long one introduction stands: as long as one may.
  static let time = Duration.seconds(300)

  /// When the two are introduced again.
  /// - Parameters:
  ///   - failure: why the last introduction came to nothing; nil: they were members of one another.
  ///   - time: how long it stood.
  static func pause(after failure: PiconetError?, standing time: Duration) -> Duration {
    switch failure?.code.known {
    // There was no answer: a new one stands at once, so that the sender keeps seeing the receiver.
    case .timedOut where time > Self.time / 2: .milliseconds(100)
    // By what is seen and known there, which changes.
    case .declined, .removed, .notSupported: .seconds(300)
    case .notConnected, .shuttingDown, .cancelled: .seconds(1)
    case .timedOut, .full, .version, .identity, .codeMismatch, .codeNeeded, .wrongCode, .wrongSession, .unreachable,
      .notAvailable, .linkFailed, .protocolBroken, .limitExceeded, .left, .alreadyConnected, .inProgress,
      .messageTooLarge, .sourceUnreadable, .sourceChanged, .nameRefused, .tooLarge, .diskFull, .noPermission, .exists,
      .digestMismatch, .sizeMismatch, .directoryVanished, .notWanted, .storageFailed, .tooManyTransfers,
      .invalidArgument, .state, .internalError, nil:
      .seconds(15)
    }
  }
}
