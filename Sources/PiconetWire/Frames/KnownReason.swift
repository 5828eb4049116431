/// The reasons of this version, for switches that must handle each of them.
public enum KnownReason: UInt16, Sendable, Hashable, CaseIterable {
  // Ends of links, invitations and associations.

  /// The peer left of its own will.
  case left = 0
  case declined = 1
  case cancelled = 2
  case timedOut = 3
  /// The session has reached its limit of members.
  case full = 4
  /// The two sides have no version in common.
  case version = 5
  /// The peer's key is not the trusted one.
  case identity = 6
  /// A person compared the short codes, and they differed.
  case codeMismatch = 7
  /// The two nodes have different session ids.
  case wrongSession = 8
  /// Another link to the same peer is kept instead.
  case duplicateLink = 9
  case protocolBroken = 10
  case limitExceeded = 11
  case shuttingDown = 12
  /// The peer was removed from the group.
  case removed = 13
  case linkFailed = 14
  /// The association was not used.
  case idle = 15
  /// The association is not, or no longer, known.
  case noSuchAssociation = 16
  /// A newer incarnation of the same peer has taken its place.
  case restarted = 17
  /// Both ends of a link have the same key.
  case selfConnection = 18
  /// The peer is a member of the session already.
  case alreadyConnected = 19
  /// An invitation to the same peer is under way.
  case inProgress = 20
  /// No address of the peer could be reached on any transport, or the peer is not in sight.
  case unreachable = 21
  /// The other side's program is older and does not support the request. Never sent.
  case notSupported = 22
  /// The node hides, and lets in only its members.
  case notAvailable = 23
  /// The node can be invited only by its code.
  case codeNeeded = 24
  /// The typed code is not that of the other side, or its proof broke off.
  case wrongCode = 25

  // Ends of transfers.

  /// The name can't be stored safely.
  case nameRefused = 32
  case tooLarge = 33
  case diskFull = 34
  case noPermission = 35
  /// A file of that name exists already and stays.
  case exists = 36
  case digestMismatch = 37
  /// The size is not the offered one.
  case sizeMismatch = 38
  case directoryVanished = 39
  /// The source grew, shrank or changed while it was sent.
  case sourceChanged = 40
  case sourceUnreadable = 41
  /// The receiver doesn't take this kind of content.
  case notWanted = 42
  case storageFailed = 43
  /// There are more transfers at once than the receiver's hello allows.
  case tooManyTransfers = 44

  case internalError = 63

  /// The reason in words.
  public var words: String {
    switch self {
    case .left: "left"
    case .declined: "declined"
    case .cancelled: "cancelled"
    case .timedOut: "timed out"
    case .full: "full"
    case .version: "no common version"
    case .identity: "identity"
    case .codeMismatch: "code mismatch"
    case .wrongSession: "another session"
    case .duplicateLink: "duplicate link"
    case .protocolBroken: "protocol broken"
    case .limitExceeded: "limit exceeded"
    case .shuttingDown: "shutting down"
    case .removed: "removed"
    case .linkFailed: "link failed"
    case .idle: "idle"
    case .noSuchAssociation: "no such association"
    case .restarted: "restarted"
    case .selfConnection: "connected to itself"
    case .alreadyConnected: "already connected"
    case .inProgress: "in progress"
    case .unreachable: "unreachable"
    case .notSupported: "not supported there"
    case .notAvailable: "not available"
    case .codeNeeded: "a code is needed"
    case .wrongCode: "wrong code"
    case .nameRefused: "name refused"
    case .tooLarge: "too large"
    case .diskFull: "disk full"
    case .noPermission: "no permission"
    case .exists: "exists already"
    case .digestMismatch: "digest mismatch"
    case .sizeMismatch: "size mismatch"
    case .directoryVanished: "directory vanished"
    case .sourceChanged: "source changed"
    case .sourceUnreadable: "source unreadable"
    case .notWanted: "not wanted"
    case .storageFailed: "storage failed"
    case .tooManyTransfers: "too many transfers"
    case .internalError: "internal error"
    }
  }
}
