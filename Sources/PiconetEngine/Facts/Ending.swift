import PiconetWire

/// Whose fault an ending was.
public enum Blame: String, Sendable, Hashable {
  /// Nobody's: it was wanted.
  case nobody
  case us, peer, link
}

/// How an attempt, an association or a transfer ended.
public struct Ending: Error, Sendable, Hashable, CustomStringConvertible {
  public var reason: Reason
  public var blame: Blame
  /// Words for people: the far side's or ours.
  public var detail: String

  public init(_ reason: Reason, _ blame: Blame, _ detail: String = "") {
    self.reason = reason
    self.blame = blame
    self.detail = detail
  }

  public var description: String { detail.isEmpty ? "\(reason)" : "\(reason): \(detail)" }
}
