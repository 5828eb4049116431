import Foundation
import Piconet

extension IncomingOffer {
  /// When the content was last changed, as the sender says; nil if it does not say. `Date` is exact to a few hundred
  /// nanoseconds.
  public var modificationDate: Date? {
    modified.map { nanoseconds in
      let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
      return Date(timeIntervalSince1970: TimeInterval(seconds) + TimeInterval(rest) / 1_000_000_000)
    }
  }
}

extension KnownPeer {
  /// When a person remembered it.
  public var sinceDate: Date { Date(timeIntervalSince1970: TimeInterval(since)) }
}
