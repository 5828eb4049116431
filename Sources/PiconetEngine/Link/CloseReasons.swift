import PiconetWire

/// What it means to us that a link ends, by what the remote side or the driver says.
extension Reason {
  /// Whose fault it is that the remote side closes with this reason.
  var blameOfClose: Blame {
    switch known {
    case .protocolBroken, .limitExceeded, .identity, .selfConnection: .us
    case .duplicateLink: .nobody
    case .timedOut, .linkFailed: .link
    case .left, .declined, .cancelled, .full, .version, .codeMismatch, .wrongSession, .shuttingDown, .removed, .idle,
      .noSuchAssociation, .restarted, .alreadyConnected, .inProgress, .unreachable, .notSupported, .notAvailable,
      .codeNeeded, .wrongCode, .nameRefused, .tooLarge, .diskFull, .noPermission, .exists, .digestMismatch,
      .sizeMismatch, .directoryVanished, .sourceChanged, .sourceUnreadable, .notWanted, .storageFailed,
      .tooManyTransfers, .internalError, nil:
      .peer
    }
  }

  /// A link is closed so that was to carry on an association which is over.
  var endsSuspended: Bool {
    switch known {
    case .noSuchAssociation, .identity, .left, .removed, .shuttingDown: true
    case .declined, .cancelled, .full, .version, .codeMismatch, .wrongSession, .idle, .restarted, .alreadyConnected,
      .inProgress, .unreachable, .notSupported, .notAvailable, .codeNeeded, .wrongCode, .nameRefused, .tooLarge,
      .diskFull, .noPermission, .exists, .digestMismatch, .sizeMismatch, .directoryVanished, .sourceChanged,
      .sourceUnreadable, .notWanted, .storageFailed, .tooManyTransfers, .internalError, .protocolBroken,
      .limitExceeded, .selfConnection, .duplicateLink, .timedOut, .linkFailed, nil:
      false
    }
  }

  /// One side closes so a link that is dead, or that it does not use; with any other reason the association ends, too.
  var endsOnlyLink: Bool { self == .timedOut || self == .linkFailed || self == .duplicateLink }
}

extension LinkEnd {
  /// How the link has ended that the driver has lost.
  var ending: Ending {
    switch self {
    case .ended: Ending(.linkFailed, .peer, "the other side closed the connection")
    case .failed(let failure): Ending(.linkFailed, .link, "\(failure)")
    case .insecure(let failure): Ending(.linkFailed, .link, "TLS: \(failure)")
    }
  }
}
