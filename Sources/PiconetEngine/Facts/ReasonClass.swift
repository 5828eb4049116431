import PiconetWire

/// Why two nodes are no longer members of one session, as far as both sides can agree on it.
///
/// The reasons themselves may differ. Of two nodes that lose each other, one may find no link in time (`timedOut`)
/// while the other is told that its association is forgotten (`linkFailed`). A node that leaves while the other shuts
/// down has its own reason. The class is the same on both sides, unless a word of one side got lost: the other side's
/// class is then `lost`, or follows a wish of its own.
public enum ReasonClass: String, Sendable, Hashable, CaseIterable {
  /// One of the two nodes wanted it.
  case left
  /// A member wanted it for the whole group. If a removal and a `leave` cross, the removal counts.
  case removed
  /// Neither node wanted it: neither reached the other for too long, or one of them no longer runs.
  case lost
  /// One of the two nodes broke a rule or exceeded a limit.
  case broken
  /// One of the two nodes does not let the other in, or no longer does.
  case refused

  /// Makes the class of a reason that ends an association. A reason that never does, or a number from a later version,
  /// counts as `left`.
  public init(_ reason: Reason) {
    self =
      switch reason.known {
      case .removed: .removed
      case .timedOut, .linkFailed, .noSuchAssociation, .restarted, .duplicateLink, .unreachable: .lost
      case .protocolBroken, .limitExceeded, .internalError: .broken
      case .identity, .codeMismatch, .version, .wrongSession, .selfConnection, .full, .notAvailable: .refused
      case .left, .declined, .cancelled, .shuttingDown, .idle, .alreadyConnected, .inProgress, .notSupported,
        .codeNeeded, .wrongCode, .nameRefused, .tooLarge, .diskFull, .noPermission, .exists, .digestMismatch,
        .sizeMismatch, .directoryVanished, .sourceChanged, .sourceUnreadable, .notWanted, .storageFailed,
        .tooManyTransfers, nil:
        .left
      }
  }

  /// Returns whether a goodbye of this class counts on both sides if it crosses one of another class. A wish comes
  /// before a failure.
  func countsBefore(_ other: ReasonClass) -> Bool {
    let order: [ReasonClass] = [.removed, .left, .refused, .broken, .lost]
    return order.firstIndex(of: self) ?? 0 < order.firstIndex(of: other) ?? 0
  }

  /// Returns whether the two sides of one association may end it with these two classes.
  /// - Parameter isSilenced: whether a word of one side may have been lost, with a link or a process.
  public func agrees(with other: ReasonClass, isSilenced: Bool) -> Bool {
    if self == other { return true }
    let isWish = [self, other].allSatisfy { [.left, .removed, .refused].contains($0) }
    return isSilenced && (self == .lost || other == .lost || isWish)
  }
}

extension Reason {
  /// Whether another try may succeed after a failure for this reason. The other side may still be asking its
  /// application about us.
  public var mayPass: Bool {
    switch ReasonClass(self) {
    case .lost: self != .restarted
    // A code was on the screen there, because our invitation had come before the introduction, and the link was lost.
    case .refused: self == .notAvailable || self == .codeMismatch
    case .left: [.cancelled, .inProgress, .idle].contains(self)
    case .removed, .broken: false
    }
  }
}
