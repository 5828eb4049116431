import PiconetWire

/// A fuzzer's bytes as decisions. Each decision consumes some bytes. When none are left, it takes the first choice.
struct FuzzInput {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: some Collection<UInt8>) { rest = Array(bytes)[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }
  /// Returns a number below the limit, which is at most 256.
  mutating func number(below limit: Int) -> Int { Int(byte()) % limit }
  mutating func isTrue() -> Bool { byte() & 1 == 1 }
  mutating func bytes(atMost limit: Int) -> [UInt8] {
    let count = min(limit, Int(byte()))
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }
  mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[number(below: choices.count)] }

  /// Returns a number that a peer would choose to do harm: a small one, one near a limit, or an arbitrary one.
  mutating func hostileNumber() -> UInt64 {
    let choice = byte()
    switch choice {
    case ..<128: return UInt64(choice)
    case 128: return VariableInteger.max
    case 129: return VariableInteger.max - 1
    case 130: return 1 << 32
    case 131: return 1 << 31 - 1
    case 132: return WireLimits.transferNumbers - 1
    case 133: return 1 << 40
    case 134...160: return UInt64(1) << UInt64(choice - 100)
    default: return UInt64(choice) << 8 | UInt64(byte())
    }
  }
}

/// A target of coverage-guided fuzzing. `Tools/fuzz` runs it, and tests run the inputs that were found.
public enum FuzzTarget: String, Sendable, CaseIterable {
  /// Frames and traces from bytes.
  case decoder
  /// Typed facts for an engine that has an honest peer beside hostile ones.
  case engine

  /// Runs the target once.
  /// - Returns: the fault, or nil. A trap is a finding as well.
  public func run(_ bytes: some Collection<UInt8>) -> String? {
    switch self {
    case .decoder: return DecoderFuzz.run(bytes)
    case .engine: return EngineFuzz(bytes).run()
    }
  }
}
