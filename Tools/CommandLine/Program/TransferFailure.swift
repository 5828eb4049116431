import Piconet

/// How a `PiconetError` is reported: a word for programs, a sentence for users, and the tool's exit code.
struct TransferFailure: Error, Hashable, Sendable {
  enum Side: Sendable {
    case sender, receiver
  }

  /// As in EVENTS.md: the error's code with hyphens, such as `link-failed`.
  let word: String
  /// Does not name the file or the peer; may contain a peer's words.
  let message: String
  let exitCode: ExitCode
  /// Whether nothing more can go to this peer.
  let endsConnection: Bool

  init(word: String, message: String, exitCode: ExitCode, endsConnection: Bool = false) {
    self.word = word
    self.message = message
    self.exitCode = exitCode
    self.endsConnection = endsConnection
  }

  init(_ error: PiconetError, on side: Side) {
    let isShortage = error.code == .internalError && error.isShortage
    word = error.isInterruption ? "cancelled" : isShortage ? "limit" : Self.hyphenated(error.code.rawValue)
    message = isShortage ? error.detail : Self.message(error, side)
    exitCode = isShortage ? .localFile : Self.exitCode(error, side)
    endsConnection = Self.connectionCodes.contains(error.code)
  }

  private static let connectionCodes: Set<PiconetError.Code> = [
    .linkFailed, .left, .removed, .shuttingDown, .notConnected, .protocolBroken, .limitExceeded, .identity, .version,
  ]

  private static func exitCode(_ error: PiconetError, _ side: Side) -> ExitCode {
    switch error.code.known {
    case .shuttingDown where error.isInterruption: .interrupted
    case .identity, .codeMismatch, .wrongCode: .identity
    case .codeNeeded: .refused
    case .unreachable, .wrongSession, .notAvailable: .noSuchPeer
    case .timedOut, .linkFailed, .left, .removed, .shuttingDown, .notConnected, .version, .protocolBroken,
      .alreadyConnected,
      .inProgress:
      .linkLost
    case .limitExceeded: error.blame == .us ? .internalError : .linkLost
    case .cancelled: error.blame == .us ? .interrupted : .refused
    case .invalidArgument: .usage
    case .state: .localFile
    case .internalError, .messageTooLarge, .notSupported, nil: .internalError
    // It depends on whose file it is: the sender's when it reads, the receiver's when it writes.
    case .sourceUnreadable, .sourceChanged: error.blame != .peer ? .localFile : side == .sender ? .refused : .linkLost
    case .diskFull, .noPermission, .directoryVanished, .storageFailed, .exists:
      side == .receiver || error.blame == .us ? .localFile : .refused
    // What arrived is not what the sender has read.
    case .digestMismatch, .sizeMismatch: .linkLost
    case .nameRefused: side == .sender && error.blame == .us ? .localFile : .refused
    case .declined, .full, .tooLarge, .notWanted, .tooManyTransfers: .refused
    }
  }

  private static func message(_ error: PiconetError, _ side: Side) -> String {
    switch error.code.known {
    // The sending side has only one word for both.
    case .codeMismatch where error.blame == .peer && error.detail.isEmpty:
      side == .receiver
        ? "they said no there, or found other digits"
        : "the other side says that the codes differ, or could not compare them: somebody may be in between"
    // No person has found that they differ.
    case .codeMismatch where !error.detail.isEmpty: error.detail
    // The remote side's paths and line numbers would be of no use here.
    case .identity where error.blame == .us:
      "the other side does not trust this device: it knows another key under this name, or not this one; "
        + "forget the other key or add this one there (piconet trust), or use another --name here"
    // Our own lines, joined into a single one for output.
    case .identity where !error.detail.isEmpty: error.detail.split(separator: "\n").joined(separator: " ")
    case .directoryVanished where side == .receiver && error.underlying is FileFailure:
      directoryMessage(error)
    case .sourceUnreadable, .sourceChanged, .tooLarge, .diskFull, .noPermission, .digestMismatch, .sizeMismatch,
      .directoryVanished, .nameRefused, .storageFailed:
      error.detail.isEmpty ? error.description : error.detail
    case .invalidArgument, .state: error.detail.isEmpty ? error.description : error.detail
    case .shuttingDown where error.isInterruption: interruption(side)
    // A sender that is ended leaves first, or ends first: by chance.
    case .shuttingDown where side == .receiver: brokenOff
    case .left where side == .receiver && error.blame == .peer: brokenOff
    case .shuttingDown: "the program there was ended"
    case .cancelled: error.blame == .us ? interruption(side) : "the other side has cancelled it"
    case .codeNeeded:
      "the other device shows a code, or has one on it, that has to be typed: use --code"
    case .declined where error.detail.isEmpty: "the other side has declined"
    case .notWanted:
      error.blame == .us
        ? "not a photo or video; use --any to take it all the same"
        : "not wanted there: not a photo or video, and --any was not given"
    case .declined, .timedOut, .full, .version, .identity, .codeMismatch, .wrongCode, .wrongSession, .unreachable,
      .notAvailable, .linkFailed, .protocolBroken, .limitExceeded, .left, .removed, .alreadyConnected, .inProgress,
      .notConnected, .messageTooLarge, .exists, .tooManyTransfers, .notSupported, .internalError, nil:
      error.description
    }
  }

  private static let brokenOff = "broken off on the other side"

  /// A receiver's lines name the sender, who has interrupted nothing.
  private static func interruption(_ side: Side) -> String { side == .receiver ? "interrupted here" : "interrupted" }

  /// Our own directory, which the remote side is not told the path of.
  private static func directoryMessage(_ error: PiconetError) -> String {
    guard let failure = error.underlying as? FileFailure else { return error.description }
    guard failure.code == .directoryReplaced else { return failure.sentence }
    return
      "\(failure.path): another folder has taken its place, and imagerecv may not write there: start imagerecv again"
  }

  /// The message as it follows the dialled address, which each transport would name again.
  func message(behind address: String) -> String { message.replacing(" \(address): ", with: " ") }

  /// `linkFailed` as `link-failed`.
  static func hyphenated(_ word: String) -> String {
    word.reduce(into: "") { text, letter in
      if letter.isUppercase { text += "-" }
      text += letter.lowercased()
    }
  }
}

extension PiconetError {
  /// Whether this program is ending because a person wants it to.
  var isInterruption: Bool { code == .shuttingDown && blame == .us }

  /// Whether what was under way was not given up: a link or a program has ended, and another transfer may go on.
  var mayGoOn: Bool { [.linkFailed, .timedOut, .shuttingDown, .notConnected].contains(code) }
}
