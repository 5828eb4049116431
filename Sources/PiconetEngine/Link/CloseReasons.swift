import PiconetWire

/// The consequences of a link's end for us, by the reason that the remote side or the driver states.
extension Reason {
  /// The side at fault if the remote side closes with this reason.
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

  /// The side at fault if we refuse a link with this reason without a broken rule.
  var blameOfRefusal: Blame {
    switch known {
    case .selfConnection: .us
    case .duplicateLink: .nobody
    case .left, .declined, .cancelled, .full, .version, .codeMismatch, .wrongSession, .shuttingDown, .removed, .idle,
      .noSuchAssociation, .restarted, .alreadyConnected, .inProgress, .unreachable, .notSupported, .notAvailable,
      .codeNeeded, .wrongCode, .nameRefused, .tooLarge, .diskFull, .noPermission, .exists, .digestMismatch,
      .sizeMismatch, .directoryVanished, .sourceChanged, .sourceUnreadable, .notWanted, .storageFailed,
      .tooManyTransfers, .internalError, .protocolBroken, .limitExceeded, .identity, .timedOut, .linkFailed, nil:
      .peer
    }
  }

  /// Whether a remote side that closes a link with this reason no longer has, or no longer wants, an association with
  /// us.
  var endsSuspended: Bool {
    switch known {
    case .noSuchAssociation, .identity, .left, .removed, .shuttingDown, .full: true
    case .declined, .cancelled, .version, .codeMismatch, .wrongSession, .idle, .restarted, .alreadyConnected,
      .inProgress, .unreachable, .notSupported, .notAvailable, .codeNeeded, .wrongCode, .nameRefused, .tooLarge,
      .diskFull, .noPermission, .exists, .digestMismatch, .sizeMismatch, .directoryVanished, .sourceChanged,
      .sourceUnreadable, .notWanted, .storageFailed, .tooManyTransfers, .internalError, .protocolBroken, .limitExceeded,
      .selfConnection, .duplicateLink, .timedOut, .linkFailed, nil:
      false
    }
  }

  /// Whether this reason ends only the link, because it is dead or not used. With any other reason the association ends
  /// too.
  var endsOnlyLink: Bool {
    switch known {
    case .timedOut, .linkFailed, .duplicateLink: true
    case .left, .declined, .cancelled, .full, .version, .codeMismatch, .wrongSession, .shuttingDown, .removed, .idle,
      .noSuchAssociation, .restarted, .alreadyConnected, .inProgress, .unreachable, .notSupported, .notAvailable,
      .codeNeeded, .wrongCode, .nameRefused, .tooLarge, .diskFull, .noPermission, .exists, .digestMismatch,
      .sizeMismatch, .directoryVanished, .sourceChanged, .sourceUnreadable, .notWanted, .storageFailed,
      .tooManyTransfers, .internalError, .protocolBroken, .limitExceeded, .identity, .selfConnection, nil:
      false
    }
  }

  /// Whether the stored bytes of a resource are kept after this reason, for the same offer. A link or a process has
  /// ended then, but the resource itself was not given up.
  var keepsStored: Bool {
    switch known {
    case .linkFailed, .timedOut, .restarted, .shuttingDown, .idle: true
    case .left, .declined, .cancelled, .full, .version, .codeMismatch, .wrongSession, .removed, .noSuchAssociation,
      .alreadyConnected, .inProgress, .unreachable, .notSupported, .notAvailable,
      .codeNeeded, .wrongCode, .nameRefused, .tooLarge, .diskFull, .noPermission, .exists, .digestMismatch,
      .sizeMismatch, .directoryVanished, .sourceChanged, .sourceUnreadable, .notWanted, .storageFailed,
      .tooManyTransfers, .internalError, .protocolBroken, .limitExceeded, .identity, .selfConnection, .duplicateLink,
      nil:
      false
    }
  }
}

extension Ending {
  /// Makes the ending of a link that the remote side closes, and of the association with its node.
  init(byClose reason: Reason, _ detail: String, of association: Association?) {
    self = reason == .noSuchAssociation ? Association.lostByPeer : Ending(reason, reason.blameOfClose, detail)
    // A late goodbye does not say at whose wish. An earlier frame has named the member.
    if reason == .removed { by = association?.removedBy }
  }
}

extension LinkEnd {
  /// The ending of a link that the driver has lost.
  var ending: Ending {
    switch self {
    case .ended: Ending(.linkFailed, .peer, "the other side closed the connection")
    case .failed(let failure): Ending(.linkFailed, .link, "\(failure)")
    case .insecure(let failure): Ending(.linkFailed, .link, "TLS: \(failure)")
    }
  }
}
