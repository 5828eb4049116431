import PiconetWire

extension Ending {
  /// The failure that a link over a tunnel ends with; nil if its other end has closed it in good order.
  var tunnelFailure: LinkFailure? {
    switch reason.known {
    case .left: nil
    case .limitExceeded: LinkFailure(.connectionLimit, detail)
    case .timedOut: LinkFailure(.timedOut, detail)
    case .noSuchAssociation, .notAvailable, .notSupported, .unreachable: LinkFailure(.unreachable, detail)
    case .declined, .cancelled, .full, .version, .identity, .codeMismatch, .codeNeeded, .wrongCode, .wrongSession,
      .duplicateLink, .linkFailed, .idle, .restarted, .protocolBroken, .shuttingDown, .removed, .selfConnection,
      .alreadyConnected, .inProgress, .nameRefused, .tooLarge, .diskFull, .noPermission, .exists, .digestMismatch,
      .sizeMismatch, .directoryVanished, .sourceChanged, .sourceUnreadable, .notWanted, .storageFailed,
      .tooManyTransfers, .internalError, nil:
      LinkFailure(.reset, detail.isEmpty ? "\(reason)" : detail)
    }
  }
}
