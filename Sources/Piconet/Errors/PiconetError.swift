import PiconetEngine
import PiconetFiles
import PiconetWire

/// Why a request to Piconet did not succeed. Every attempt ends in success or in one of these errors, on both sides.
///
/// A handler names a code as `catch PiconetError.declined`, and looks at the rest as `catch let error as PiconetError`,
/// or as `catch` where nothing else is thrown.
@dynamicMemberLookup
public struct PiconetError: Error, Sendable, CustomStringConvertible {
  /// What happened. More codes may come; compare with those that you handle, and show the description of any other.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The code's spelling in events of the programs and in traces.
    public let rawValue: String
    /// Creates a code with this spelling; later versions may have codes that this one does not know.
    public init(rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }

    /// The codes of this version, for a `switch` that the compiler checks.
    package enum Known: String, CaseIterable, Sendable {
      case declined, cancelled, timedOut, full, version, identity, codeMismatch, codeNeeded, wrongCode, wrongSession,
        unreachable, notAvailable, linkFailed, protocolBroken, limitExceeded, shuttingDown, left, removed,
        alreadyConnected, inProgress, notConnected, messageTooLarge, sourceUnreadable, sourceChanged, nameRefused,
        tooLarge, diskFull, noPermission, exists, digestMismatch, sizeMismatch, directoryVanished, notWanted,
        storageFailed, tooManyTransfers, notSupported, invalidArgument, state, internalError
    }

    /// Nil for a code of another version or a program's own.
    package var known: Known? { Known(rawValue: rawValue) }

    private init(known: Known) { rawValue = known.rawValue }

    /// The peer declined.
    public static let declined = Code(known: .declined)
    /// The calling task, or the peer, cancelled it.
    public static let cancelled = Code(known: .cancelled)
    /// Nothing was heard, or no answer came, within the time allowed.
    public static let timedOut = Code(known: .timedOut)
    /// The session has as many members as its capacity allows.
    public static let full = Code(known: .full)
    /// No protocol version in common.
    public static let version = Code(known: .version)
    /// The peer's key is not trusted: it changed, is not remembered, or is not the pinned one.
    public static let identity = Code(known: .identity)
    /// A person compared the short codes and they differ, or the other side broke the rules of comparing them. A link
    /// that breaks during a comparison is `linkFailed`.
    public static let codeMismatch = Code(known: .codeMismatch)
    /// The peer can be invited only with its typed code (`Node.invite(_:proving:context:timeout:transports:proven:)`).
    public static let codeNeeded = Code(known: .codeNeeded)
    /// The code that was typed is not the peer's, or the exchange that proves it broke off.
    public static let wrongCode = Code(known: .wrongCode)
    /// The peer is in another session.
    public static let wrongSession = Code(known: .wrongSession)
    /// No address of the peer answers on any transport, see `failures`, or it is not in sight.
    public static let unreachable = Code(known: .unreachable)
    /// The peer hides: while it is not available it takes invitations only from peers that it expects.
    public static let notAvailable = Code(known: .notAvailable)
    /// The connection broke.
    public static let linkFailed = Code(known: .linkFailed)
    /// The peer broke the protocol.
    public static let protocolBroken = Code(known: .protocolBroken)
    /// A limit was crossed; the description names it.
    public static let limitExceeded = Code(known: .limitExceeded)
    /// This node, or the peer, is shutting down.
    public static let shuttingDown = Code(known: .shuttingDown)
    /// The peer left, or this node left the peer: the blame says which.
    public static let left = Code(known: .left)
    /// A member was removed from the session for the whole group; see `removedBy`.
    public static let removed = Code(known: .removed)
    /// The peer is a member already.
    public static let alreadyConnected = Code(known: .alreadyConnected)
    /// An invitation to this peer is under way; or another reader is reading this stream.
    public static let inProgress = Code(known: .inProgress)
    /// The peer is not, or no longer, a member of the session.
    public static let notConnected = Code(known: .notConnected)
    /// The message exceeds the limit of this node or of the peer; the description names both numbers.
    public static let messageTooLarge = Code(known: .messageTooLarge)

    /// The file to send is missing, unreadable or not a regular file; see `underlying`.
    public static let sourceUnreadable = Code(known: .sourceUnreadable)
    /// The file to send grew, shrank or changed while it was being sent.
    public static let sourceChanged = Code(known: .sourceChanged)
    /// The name can't be stored safely.
    public static let nameRefused = Code(known: .nameRefused)
    /// The resource exceeds the receiver's limit.
    public static let tooLarge = Code(known: .tooLarge)
    /// The disk that the file goes to has no space left.
    public static let diskFull = Code(known: .diskFull)
    /// The file or the directory may not be opened or written.
    public static let noPermission = Code(known: .noPermission)
    /// A file with that name exists already, and is kept.
    public static let exists = Code(known: .exists)
    /// The content that arrived differs from what was sent: the SHA-256 differs, and nothing was kept.
    public static let digestMismatch = Code(known: .digestMismatch)
    /// More or fewer bytes arrived than were offered.
    public static let sizeMismatch = Code(known: .sizeMismatch)
    /// The receiving directory does not exist, or is no longer at its path: it was moved or removed, or another
    /// directory has taken its place.
    public static let directoryVanished = Code(known: .directoryVanished)
    /// The receiver doesn't take this kind of content.
    public static let notWanted = Code(known: .notWanted)
    /// The disk failed.
    public static let storageFailed = Code(known: .storageFailed)
    /// More transfers at once than the peer takes.
    public static let tooManyTransfers = Code(known: .tooManyTransfers)

    /// The peer's program is older, and can't do what was requested.
    public static let notSupported = Code(known: .notSupported)
    /// An argument or a setting is wrong; the description names the rule.
    public static let invalidArgument = Code(known: .invalidArgument)
    /// The device key or the known peers can't be read or written; see `underlying`.
    public static let state = Code(known: .state)
    /// Something in this system failed unexpectedly.
    public static let internalError = Code(known: .internalError)
  }

  /// What happened.
  public var code: Code
  /// The peer concerned, if there is one.
  public var peer: NodeID?
  /// Whose fault it was.
  public var blame: Blame
  /// A readable explanation, without the code; may be empty. It may be the peer's own words: escape it before showing
  /// it on a terminal.
  public var detail: String
  /// The cause on this side, such as a `FileFailure`.
  public var underlying: (any Error)?
  /// For an invitation that did not reach its peer: why each transport failed, in the order in which they did.
  public var failures: [TransportFailure] = []
  /// For a removal: the node that asked for it, which may be this one. The removed node has only the word of the member
  /// that left it. Nil where it learned of the removal only when it came back.
  public var removedBy: NodeID?

  /// Creates an error of a program's own, such as one to decline with.
  public init(
    _ code: Code, peer: NodeID? = nil, blame: Blame, detail: String = "", underlying: (any Error)? = nil
  ) {
    self.code = code
    self.peer = peer
    self.blame = blame
    self.detail = detail
    self.underlying = underlying
  }

  /// A sentence that says what happened. It contains `detail` unchanged: remove control characters before you show it
  /// on a terminal.
  public var description: String {
    var words = code == .left && blame != .peer ? "we have left" : code.known?.words ?? code.rawValue
    if let removedBy { words += " by \(removedBy)" }
    return detail.isEmpty ? words : "\(words): \(detail)"
  }
}

extension PiconetError {
  /// Returns a code by its name, for patterns: `catch PiconetError.declined`.
  public static subscript(dynamicMember code: KeyPath<Code.Type, Code>) -> Code { Code.self[keyPath: code] }

  init(_ ending: Ending, peer: NodeID?, underlying: (any Error)? = nil) {
    let code = ending.reason.known.map(Code.init)
    // A number that a later version or another application has defined: not an error in this code.
    self.init(
      code ?? (ending.blame == .peer ? .declined : .internalError), peer: peer, blame: ending.blame,
      detail: code == nil ? "\(ending)" : ending.detail, underlying: underlying)
    failures = ending.failures
    removedBy = ending.by
  }
}

extension PiconetError {
  /// How long the peer takes no code after wrong ones, if it refused to try our code for that reason.
  package var codePause: Duration? {
    code == .wrongCode && blame == .peer ? CodePause(words: detail)?.duration : nil
  }
}

extension PiconetError.Code.Known {
  /// The code in words, without `detail`.
  var words: String {
    switch self {
    case .declined: "declined"
    case .cancelled: "cancelled"
    case .timedOut: "no answer in time"
    case .full: "the session is full"
    case .version: "no protocol version in common"
    case .identity: "the identity is not trusted"
    case .codeMismatch: "the short codes differ, or could not be compared"
    case .codeNeeded: "its code has to be typed"
    case .wrongCode: "the code was not proven"
    case .wrongSession: "the device is in another session"
    case .unreachable: "unreachable"
    case .notAvailable: "the device is not available"
    case .linkFailed: "the connection broke"
    case .protocolBroken: "the protocol was broken"
    case .limitExceeded: "a limit was crossed"
    case .shuttingDown: "shutting down"
    case .left: "the peer left"
    case .removed: "removed from the session"
    case .alreadyConnected: "connected already"
    case .inProgress: "under way already"
    case .notConnected: "not connected"
    case .messageTooLarge: "the message is too large"
    case .sourceUnreadable: "the file can't be read"
    case .sourceChanged: "the file changed while it was sent"
    case .nameRefused: "the name is refused"
    case .tooLarge: "too large"
    case .diskFull: "the disk is full"
    case .noPermission: "no permission to write"
    case .exists: "a file of that name exists"
    case .digestMismatch: "the content was damaged"
    case .sizeMismatch: "the size is not what was offered"
    case .directoryVanished: "the directory is no longer where it was"
    case .notWanted: "not wanted"
    case .storageFailed: "the disk failed"
    case .tooManyTransfers: "too many transfers at once"
    case .notSupported: "the device does not support it"
    case .invalidArgument: "invalid"
    case .state: "the stored identity"
    case .internalError: "internal error"
    }
  }
}

extension PiconetError.Code {
  /// Returns whether an error is a `PiconetError` with this code.
  public static func ~= (code: PiconetError.Code, error: any Error) -> Bool {
    (error as? PiconetError)?.code == code
  }
}

extension PiconetError.Code {
  /// Translates a reason of the engine for the application.
  fileprivate init(_ reason: KnownReason) {
    self =
      switch reason {
      case .left: .left
      case .declined: .declined
      case .cancelled: .cancelled
      case .timedOut: .timedOut
      case .full: .full
      case .version: .version
      case .identity: .identity
      case .codeMismatch: .codeMismatch
      case .codeNeeded: .codeNeeded
      case .wrongCode: .wrongCode
      case .wrongSession: .wrongSession
      case .duplicateLink, .linkFailed, .idle, .restarted: .linkFailed
      case .protocolBroken: .protocolBroken
      case .limitExceeded: .limitExceeded
      case .shuttingDown: .shuttingDown
      case .removed: .removed
      case .noSuchAssociation: .notConnected
      case .selfConnection, .unreachable: .unreachable
      case .alreadyConnected: .alreadyConnected
      case .inProgress: .inProgress
      case .nameRefused: .nameRefused
      case .tooLarge: .tooLarge
      case .diskFull: .diskFull
      case .noPermission: .noPermission
      case .exists: .exists
      case .digestMismatch: .digestMismatch
      case .sizeMismatch: .sizeMismatch
      case .directoryVanished: .directoryVanished
      case .sourceChanged: .sourceChanged
      case .sourceUnreadable: .sourceUnreadable
      case .notWanted: .notWanted
      case .storageFailed: .storageFailed
      case .tooManyTransfers: .tooManyTransfers
      case .notSupported: .notSupported
      case .notAvailable: .notAvailable
      case .internalError: .internalError
      }
  }
}

extension PiconetError.Code {
  /// The reason that the remote side gets when it is answered with this code.
  var reason: Reason {
    switch known {
    case .codeMismatch: .codeMismatch
    case .cancelled: .cancelled
    case .timedOut: .timedOut
    case .full: .full
    case .identity: .identity
    case .left: .left
    case .nameRefused: .nameRefused
    case .tooLarge: .tooLarge
    case .diskFull: .diskFull
    case .noPermission: .noPermission
    case .exists: .exists
    case .directoryVanished: .directoryVanished
    case .notWanted: .notWanted
    case .storageFailed: .storageFailed
    case .tooManyTransfers: .tooManyTransfers
    case .internalError: .internalError
    // These do not concern the remote side, or mean nothing there.
    case .declined, .version, .codeNeeded, .wrongCode, .wrongSession, .unreachable, .notAvailable, .linkFailed,
      .protocolBroken, .limitExceeded, .shuttingDown, .removed, .alreadyConnected, .inProgress, .notConnected,
      .messageTooLarge, .sourceUnreadable, .sourceChanged, .digestMismatch, .sizeMismatch, .notSupported,
      .invalidArgument, .state, nil:
      .declined
    }
  }
}

extension FileFailure {
  /// The kind of the failure. The remote side is not told any path of this machine.
  var toldReason: Reason {
    switch code {
    case .missing, .unreadable, .notRegular: .sourceUnreadable
    case .diskFull, .noRoomForFiles, .quotaExceeded: .diskFull
    case .noPermission, .readOnly, .notDirectory: .noPermission
    case .directoryMissing, .directoryVanished, .directoryReplaced: .directoryVanished
    case .nameRefused: .nameRefused
    case .tooLarge: .tooLarge
    case .shrank, .grew, .changed: .sourceChanged
    case .digestMismatch: .digestMismatch
    case .tooManyBytes, .tooFewBytes: .sizeMismatch
    case .exists: .exists
    case .ioError, .otherFileSystem, .partialFileRemoved: .storageFailed
    }
  }

  /// The failure of a sent file, as the receiver is told.
  var told: ResourceFailure { ResourceFailure(toldReason, explanation) }

  /// The failure of a received file, as the sender is told. The reasons about a source would be about its own file.
  var toldSender: ResourceFailure {
    guard [.sourceUnreadable, .sourceChanged].contains(toldReason) else { return told }
    let words = code == .missing ? "a file or folder was removed there while the file came" : explanation
    return ResourceFailure(.storageFailed, words)
  }

  func piconetError(peer: NodeID?) -> PiconetError {
    PiconetError(
      Ending(toldReason, blame == .peer ? .peer : .us, explanation), peer: peer, underlying: self)
  }
}
