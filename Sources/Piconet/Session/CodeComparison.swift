import PiconetEngine
import PiconetWire

/// A comparison of short codes with a member that has come to its end, whichever side asked for it
/// (`Member.compareCodes`). One that ended before its code was on the screen here is not among them.
public struct CodeComparison: Sendable {
  /// With whom codes were compared.
  public let member: Member
  /// Why it has come to nothing; nil: both users have said that they saw the same code, and `Member.confirmation` says
  /// so. Success may follow a `timedOut`: the member's word was late.
  public let failure: PiconetError?
}

extension Session {
  /// How comparisons of codes with members end, at their wish or this program's (`NodeConfiguration.compare`). At most
  /// 256 wait for a reader; beyond that the oldest go.
  public var comparisons: EventSequence<CodeComparison> { EventSequence(source: core.comparisons) }
}
