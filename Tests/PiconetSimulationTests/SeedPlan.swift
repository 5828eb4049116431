import Foundation
import PiconetTestKit
import Testing

/// Which seeds a test run takes: `PICONET_SEEDS=N` multiplies all counts (0.25 is allowed, too), and
/// `PICONET_SEED=family:number` runs a single one.
enum SeedPlan {
  static let counts: [(family: ScenarioFamily, count: Int)] = [
    (.pair, 300), (.glare, 500), (.fickle, 300), (.transfers, 300), (.streams, 300), (.weather, 300), (.lossy, 300),
    (.restart, 200), (.mixed, 150),
    (.hostile, 300), (.codes, 300), (.hidden, 300), (.introductions, 300), (.groups, 300),
    (.relays, 300), (.calls, 300),
  ]

  static let factor = ProcessInfo.processInfo.environment["PICONET_SEEDS"].flatMap { Double($0) } ?? 1
  static let alone = ProcessInfo.processInfo.environment["PICONET_SEED"]

  /// A part of a family's seeds: small enough that all cores have something to do.
  struct Part: Sendable, CustomTestStringConvertible {
    let family: ScenarioFamily
    let numbers: Range<UInt64>
    var testDescription: String { "\(family.rawValue):\(numbers.lowerBound)..<\(numbers.upperBound)" }
  }

  /// This many seeds, multiplied as the run wants it.
  static func count(_ usual: Int) -> UInt64 { UInt64((Double(usual) * factor).rounded(.up)) }

  static let parts: [Part] = counts.flatMap { family, usual in
    let total = count(usual)
    return stride(from: 0, to: total, by: 50).map { Part(family: family, numbers: $0..<min($0 + 50, total)) }
  }
}
