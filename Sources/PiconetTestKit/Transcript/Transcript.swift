import PiconetEngine
import PiconetWire

/// Every fact, effect and network event with its virtual time. Values are kept, and turned into text only when a caller
/// reads them, so that thousands of runs without a finding pay little for it.
struct Transcript {
  enum Entry {
    case fact(Int, Fact)
    case effect(Int, Effect)
    case network(StaticString, Int, Int, Int)
    case world(String)
  }

  private let limit: Int
  private var entries: [(time: UInt64, entry: Entry)] = []
  private var head = 0
  private(set) var count = 0

  /// Keeps the last `limit` entries.
  init(limit: Int) { self.limit = limit }

  mutating func note(_ entry: Entry, at time: UInt64) {
    count += 1
    if entries.count < limit {
      entries.append((time, entry))
    } else if limit > 0 {
      entries[head] = (time, entry)
      head = head + 1 == limit ? 0 : head + 1
    }
  }

  func lines(_ wording: TranscriptWording) -> [String] {
    (entries[head...] + entries[..<head]).map { time, entry in
      "\(Self.clock(time))  \(wording.describe(entry))"
    }
  }

  /// Returns the time in seconds, with microseconds.
  private static func clock(_ time: UInt64) -> String {
    let micro = String(time / 1_000 % 1_000_000)
    let second = String(time / 1_000_000_000)
    return String(repeating: " ", count: max(0, 4 - second.count)) + second + "."
      + String(repeating: "0", count: 6 - micro.count) + micro
  }
}
