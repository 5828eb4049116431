/// How imagesend and imagerecv end. The numbers are a promise to scripts and never change.
enum ExitCode: Int32, Sendable, CaseIterable {
  /// Every file was stored, or was there already.
  case stored = 0
  /// A defect in Piconet.
  case internalError = 1
  /// The command line was not understood, or left open what to do.
  case usage = 2
  /// No peer of that name, or none at all, was found in time.
  case noSuchPeer = 3
  /// The other side declined.
  case refused = 4
  /// The link broke, or nothing moved for too long; or the bytes that came are not those that were offered.
  case linkLost = 5
  /// A local file or directory: missing, unreadable, no permission, no space, not an image; or a file was skipped
  /// because another one has its name at the receiver. Also a limit of the system with which nothing can work.
  case localFile = 6
  /// The peer is not who it was, or may not be: its key changed, is not confirmed or not allowed, or the codes did not
  /// match.
  case identity = 7
  /// SIGINT, SIGTERM or SIGHUP came before everything was done. The process ends by that signal, which a shell shows as
  /// 130, 143 or 129.
  case interrupted = 130

  /// What `--help` and Documentation/programs/scripts.md say about the code.
  var summary: String {
    switch self {
    case .stored: "every file was stored, or was there already"
    case .internalError: "internal error"
    case .usage: "the command line was wrong, or left a choice open"
    case .noSuchPeer: "no such peer was found"
    case .refused: "the other side refused, or too many codes were wrong"
    case .linkLost: "the link was lost, or timed out; or what arrived is not what was sent"
    case .localFile:
      "a local file: unreadable, no space, no permission; or a file was skipped for another of its name; or the table of known peers can't be read"
    case .identity: "a peer's key changed or is not confirmed, or the codes did not match"
    case .interrupted:
      "interrupted by a signal before the end, as imagerecv without --count always is: 143 by SIGTERM, 129 by SIGHUP"
    }
  }

  /// From harmless to worst. The number is not the order: it says what happened, this says how far the damage goes.
  ///
  /// A refusal is a decision, and everything worked. A local file concerns that file alone. A missing peer gets nothing
  /// at all, but nothing is in doubt. A lost link leaves open what the other side has. A usage error means that nothing
  /// was tried. An interruption may have hidden any of these. A wrong identity may be an attack, which no other trouble
  /// may hide. After a defect of our own not even the other outcomes can be relied on.
  private static let fromHarmlessToWorst: [ExitCode] = [
    .stored, .refused, .localFile, .noSuchPeer, .linkLost, .usage, .interrupted, .identity, .internalError,
  ]

  /// Whether what it stands for happened on this side: no peer is named with it.
  var isOfThisSide: Bool { self == .localFile || self == .interrupted }

  /// 0 is harmless; more is worse.
  var badness: Int { Self.fromHarmlessToWorst.firstIndex(of: self) ?? Int.max }

  /// Returns the code of a whole run, from the codes of its files: the worst; `stored` if there are no files.
  static func worst(_ codes: some Sequence<ExitCode>) -> ExitCode {
    codes.reduce(.stored) { $1.badness > $0.badness ? $1 : $0 }
  }
}
