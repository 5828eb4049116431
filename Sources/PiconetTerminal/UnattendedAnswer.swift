import Glibc
import Synchronization

/// What a program answers for itself where it would ask a person, and there is no terminal: no or yes, and nothing
/// else.
public enum UnattendedAnswer: String, Hashable, Sendable {
  /// No one is let in, and no one is picked.
  case decline
  /// Any peer that asks is let in, and the first that comes is picked: for tests, and devices that stand alone among
  /// friends.
  case accept

  private static let chosen = Mutex<UnattendedAnswer?>(nil)

  /// That of this process, as the program has set it; otherwise that of the variable `PICONET_UNATTENDED`, `accept` or
  /// `decline`; `decline` for anything else.
  public static var ofProcess: UnattendedAnswer {
    get {
      chosen.withLock { $0 }
        ?? UnattendedAnswer(rawValue: getenv("PICONET_UNATTENDED").map { String(cString: $0) } ?? "") ?? .decline
    }
    set { chosen.withLock { $0 = newValue } }
  }
}
