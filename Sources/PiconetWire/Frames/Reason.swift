/// Why something ended, as a number on the wire. New ones may be added: an unknown number is kept and passed on.
public struct Reason: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  // Ends of links, invitations and associations.

  /// The peer left of its own will.
  public static let left = Reason(rawValue: 0)
  public static let declined = Reason(rawValue: 1)
  public static let cancelled = Reason(rawValue: 2)
  public static let timedOut = Reason(rawValue: 3)
  /// The session has as many members as it takes.
  public static let full = Reason(rawValue: 4)
  /// No version in common.
  public static let version = Reason(rawValue: 5)
  /// The peer's key is not the one that is trusted.
  public static let identity = Reason(rawValue: 6)
  /// A person compared the short codes and they differ.
  public static let codeMismatch = Reason(rawValue: 7)
  /// The two nodes have different session ids.
  public static let wrongSession = Reason(rawValue: 8)
  /// Another link to the same peer is kept instead.
  public static let duplicateLink = Reason(rawValue: 9)
  public static let protocolBroken = Reason(rawValue: 10)
  public static let limitExceeded = Reason(rawValue: 11)
  public static let shuttingDown = Reason(rawValue: 12)
  /// The peer was removed from the group.
  public static let removed = Reason(rawValue: 13)
  public static let linkFailed = Reason(rawValue: 14)
  /// Nobody used the association.
  public static let idle = Reason(rawValue: 15)
  /// The association is not, or no longer, known.
  public static let noSuchAssociation = Reason(rawValue: 16)
  /// A newer incarnation of the same peer has taken the place of the former.
  public static let restarted = Reason(rawValue: 17)
  /// Both ends of a link have the same key.
  public static let selfConnection = Reason(rawValue: 18)
  /// The peer is a member of the session already.
  public static let alreadyConnected = Reason(rawValue: 19)
  /// An invitation to the same peer is under way.
  public static let inProgress = Reason(rawValue: 20)
  /// No address of the peer could be reached on any transport, or the peer is not in sight.
  public static let unreachable = Reason(rawValue: 21)
  /// The other side's program is older, and can't do what was asked for. Never sent.
  public static let notSupported = Reason(rawValue: 22)
  /// The node hides, and lets in its members only.
  public static let notAvailable = Reason(rawValue: 23)
  /// The node is invited by its code only.
  public static let codeNeeded = Reason(rawValue: 24)
  /// The code that was typed is not the one of the other side, or the proof of it broke off.
  public static let wrongCode = Reason(rawValue: 25)

  // Ends of transfers.

  /// The name can't be stored safely.
  public static let nameRefused = Reason(rawValue: 32)
  public static let tooLarge = Reason(rawValue: 33)
  public static let diskFull = Reason(rawValue: 34)
  public static let noPermission = Reason(rawValue: 35)
  /// A file of that name is there already and stays.
  public static let exists = Reason(rawValue: 36)
  public static let digestMismatch = Reason(rawValue: 37)
  /// More or fewer bytes than offered.
  public static let sizeMismatch = Reason(rawValue: 38)
  public static let directoryVanished = Reason(rawValue: 39)
  /// The source grew, shrank or changed while it was sent.
  public static let sourceChanged = Reason(rawValue: 40)
  public static let sourceUnreadable = Reason(rawValue: 41)
  /// The receiver doesn't take this kind of content.
  public static let notWanted = Reason(rawValue: 42)
  public static let storageFailed = Reason(rawValue: 43)
  /// More transfers at once than the receiver's hello allows.
  public static let tooManyTransfers = Reason(rawValue: 44)

  public static let internalError = Reason(rawValue: 63)

  static let names: [Reason: String] = [
    .left: "left", .declined: "declined", .cancelled: "cancelled", .timedOut: "timed out", .full: "full",
    .version: "no common version", .identity: "identity", .codeMismatch: "code mismatch",
    .wrongSession: "another session", .duplicateLink: "duplicate link", .protocolBroken: "protocol broken",
    .limitExceeded: "limit exceeded", .shuttingDown: "shutting down", .removed: "removed",
    .linkFailed: "link failed", .idle: "idle", .noSuchAssociation: "no such association", .restarted: "restarted",
    .selfConnection: "connected to itself", .alreadyConnected: "already connected", .inProgress: "in progress",
    .unreachable: "unreachable", .notSupported: "not supported there",
    .notAvailable: "not available", .codeNeeded: "a code is needed", .wrongCode: "wrong code",
    .nameRefused: "name refused", .tooLarge: "too large", .diskFull: "disk full", .noPermission: "no permission",
    .exists: "exists already", .digestMismatch: "digest mismatch", .sizeMismatch: "size mismatch",
    .directoryVanished: "directory vanished", .sourceChanged: "source changed",
    .sourceUnreadable: "source unreadable", .notWanted: "not wanted", .storageFailed: "storage failed",
    .tooManyTransfers: "too many transfers", .internalError: "internal error",
  ]
}

extension Reason: CustomStringConvertible {
  public var description: String { Self.names[self] ?? "reason \(rawValue)" }
}
