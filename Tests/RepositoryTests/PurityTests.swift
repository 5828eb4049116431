import Testing

@Suite("Wire, engine, DNS-SD, calls and the simulator are pure")
struct PurityTests {
  static let pure: Set<String> = [
    "PiconetWire", "PiconetEngine", "PiconetDNSSD", "PiconetSDP", "PiconetDBusValues", "PiconetBlueZ", "PiconetTestKit",
    "PiconetCalls",
  ]
  static let impure: Set<String> = [
    "async", "await", "Task", "actor", "ContinuousClock", "SuspendingClock", "SystemRandomNumberGenerator", "Mutex",
    "Atomic", "Thread", "readLine", "CommandLine", "ObjectIdentifier",
  ]
  /// Each uses the system's dice unless it is given others.
  static let dice = [".random(", ".shuffled(", ".shuffle(", ".randomElement("]

  static func words(_ line: String) -> [String] {
    line.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
  }

  @Test("no task, clock, lock or random source of their own")
  func noneOfTheWorld() {
    let wrong = Repository.sources.filter { Self.pure.contains($0.module) }.flatMap { file in
      file.places { line in
        Self.words(line).contains { Self.impure.contains($0) }
          || Self.dice.contains { line.contains($0) } && !line.contains("using:")
      }
    }
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }
}
