import PiconetEngine
import PiconetWire

/// A comparison of short codes with a member that has ended, whichever side asked for it (`Member.compareCodes`). A
/// comparison that ended before its code was on the screen here is not reported.
public struct CodeComparison: Sendable {
  /// The member with which codes were compared.
  public let member: Member
  /// Why the comparison failed; nil: both users have said that they saw the same code, and `Member.confirmation` says
  /// so. Success may follow a `timedOut`: the member's answer was late.
  public let failure: PiconetError?
}

extension Session {
  /// The comparisons of codes with members that have ended, at their wish or this program's
  /// (`NodeConfiguration.compare`). At most 256 wait for a reader; beyond that the oldest are dropped.
  public var comparisons: EventSequence<CodeComparison> { EventSequence(source: core.comparisons) }
}
