import Foundation
import Testing

extension Trait where Self == ConditionTrait {
  /// For a test of so many orders of events that it keeps a processor busy for tens of seconds: left out if fewer seeds
  /// than usual are wanted, as by `Tools/test --fast`.
  static var everyOrder: Self {
    let factor = ProcessInfo.processInfo.environment["PICONET_SEEDS"].flatMap { Double($0) } ?? 1
    return .enabled(if: factor >= 1, "plays every order of events: left out by Tools/test --fast")
  }
}
