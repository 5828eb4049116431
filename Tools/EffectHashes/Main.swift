import PiconetEngine
import PiconetTestKit

/// Hashes of all facts and effects of each engine in thousands of simulated runs, over the encoding of traces, which no
/// renaming touches: a change that must not alter what the engine does leaves the lines the same.
@main
enum EffectHashes {
  /// How many seeds of a family share a line: few enough to find the one that differs.
  private static let block: UInt64 = 50

  static func main() async {
    var arguments = CommandLine.arguments.dropFirst()
    var seeds: UInt64 = 500
    if let first = arguments.popFirst() {
      guard let count = UInt64(first), (1...1_000_000).contains(count), arguments.isEmpty else {
        print("effect-hashes takes one number: how many seeds of each family, 1 to 1000000")
        return
      }
      seeds = count
    }
    let parts = ScenarioFamily.allCases.flatMap { family in
      stride(from: 0, to: seeds, by: Int(block)).map { (family, $0..<min($0 + block, seeds)) }
    }
    await withTaskGroup(of: (Int, String).self) { group in
      for (index, part) in parts.enumerated() {
        group.addTask { (index, line(part.0, part.1)) }
      }
      // Printed in the order of the parts, each as soon as all before it are done.
      var waiting: [Int: String] = [:]
      var next = 0
      for await (index, line) in group {
        waiting[index] = line
        while let line = waiting.removeValue(forKey: next) {
          print(line)
          next += 1
        }
      }
    }
  }

  private static func line(_ family: ScenarioFamily, _ numbers: Range<UInt64>) -> String {
    var hash = FNV1a()
    for number in numbers {
      let report = Simulation.run(SimulationSeed(family, number), transcriptLimit: 1, recordsTraces: true)
      for trace in report.traces { add(trace, to: &hash) }
    }
    return "\(family.rawValue):\(numbers.lowerBound)..<\(numbers.upperBound) \(String(hash.value, radix: 16))"
  }
}

extension EffectHashes {
  /// Adds the records of a trace. A flush that framed nothing did nothing, and whether there was one is not part of
  /// what the engine does.
  private static func add(_ trace: [UInt8], to hash: inout FNV1a) {
    var decoder = TraceDecoder()
    decoder.push(trace)
    var flush: ArraySlice<UInt8>?
    var position = 0
    while let record = try? decoder.next() {
      let end = trace.count - decoder.bufferedCount
      defer { position = end }
      switch record {
      case .flushed: flush = trace[position..<end]
      case .fact, .ended: flush = nil
      case .effect:
        if let flush { hash.add(flush) }
        flush = nil
      }
      if case .flushed = record { continue }
      hash.add(trace[position..<end])
    }
  }
}

/// FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/. The count keeps two traces end to end from looking like
/// one.
private struct FNV1a {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ bytes: ArraySlice<UInt8>) {
    var count = UInt64(bytes.count)
    for _ in 0..<8 {
      add(UInt8(truncatingIfNeeded: count))
      count >>= 8
    }
    for byte in bytes { add(byte) }
  }

  private mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
}
