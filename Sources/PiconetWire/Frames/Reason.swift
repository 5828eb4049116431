/// The reason of an ending, as a number on the wire. New numbers may be added: an unknown one is kept and passed on.
public struct Reason: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  private init(_ known: KnownReason) { rawValue = known.rawValue }

  /// The known reason; nil if the number belongs to a later version, or to an application.
  public var known: KnownReason? { KnownReason(rawValue: rawValue) }

  // Ends of links, invitations and associations.

  /// The peer left of its own will.
  public static let left = Reason(.left)
  public static let declined = Reason(.declined)
  public static let cancelled = Reason(.cancelled)
  public static let timedOut = Reason(.timedOut)
  /// The session has reached its limit of members.
  public static let full = Reason(.full)
  /// The two sides have no version in common.
  public static let version = Reason(.version)
  /// The peer's key is not the trusted one.
  public static let identity = Reason(.identity)
  /// A person compared the short codes, and they differed.
  public static let codeMismatch = Reason(.codeMismatch)
  /// The two nodes have different session ids.
  public static let wrongSession = Reason(.wrongSession)
  /// Another link to the same peer is kept instead.
  public static let duplicateLink = Reason(.duplicateLink)
  public static let protocolBroken = Reason(.protocolBroken)
  public static let limitExceeded = Reason(.limitExceeded)
  public static let shuttingDown = Reason(.shuttingDown)
  /// The peer was removed from the group.
  public static let removed = Reason(.removed)
  public static let linkFailed = Reason(.linkFailed)
  /// The association was not used.
  public static let idle = Reason(.idle)
  /// The association is not, or no longer, known.
  public static let noSuchAssociation = Reason(.noSuchAssociation)
  /// A newer incarnation of the same peer has taken its place.
  public static let restarted = Reason(.restarted)
  /// Both ends of a link have the same key.
  public static let selfConnection = Reason(.selfConnection)
  /// The peer is a member of the session already.
  public static let alreadyConnected = Reason(.alreadyConnected)
  /// An invitation to the same peer is under way.
  public static let inProgress = Reason(.inProgress)
  /// No address of the peer could be reached on any transport, or the peer is not in sight.
  public static let unreachable = Reason(.unreachable)
  /// The other side's program is older and does not support the request. Never sent.
  public static let notSupported = Reason(.notSupported)
  /// The node hides, and lets in only its members.
  public static let notAvailable = Reason(.notAvailable)
  /// The node can be invited only by its code.
  public static let codeNeeded = Reason(.codeNeeded)
  /// The typed code is not that of the other side, or its proof broke off.
  public static let wrongCode = Reason(.wrongCode)

  // Ends of transfers.

  /// The name can't be stored safely.
  public static let nameRefused = Reason(.nameRefused)
  public static let tooLarge = Reason(.tooLarge)
  public static let diskFull = Reason(.diskFull)
  public static let noPermission = Reason(.noPermission)
  /// A file of that name exists already and stays.
  public static let exists = Reason(.exists)
  public static let digestMismatch = Reason(.digestMismatch)
  /// The size is not the offered one.
  public static let sizeMismatch = Reason(.sizeMismatch)
  public static let directoryVanished = Reason(.directoryVanished)
  /// The source grew, shrank or changed while it was sent.
  public static let sourceChanged = Reason(.sourceChanged)
  public static let sourceUnreadable = Reason(.sourceUnreadable)
  /// The receiver doesn't take this kind of content.
  public static let notWanted = Reason(.notWanted)
  public static let storageFailed = Reason(.storageFailed)
  /// There are more transfers at once than the receiver's hello allows.
  public static let tooManyTransfers = Reason(.tooManyTransfers)

  public static let internalError = Reason(.internalError)
}

extension Reason: CustomStringConvertible {
  public var description: String { known?.words ?? "reason \(rawValue)" }
}
