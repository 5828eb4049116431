import Foundation
import PiconetTestKit
import Testing

@Suite("Inputs that fuzzing has kept")
struct FuzzCorpusTests {
  static func inputs(_ target: String) -> [URL] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Corpus/\(target)")
    let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    return files.sorted { $0.path < $1.path }
  }

  @Test("no input of the corpus finds anything", arguments: FuzzTarget.allCases)
  func corpusFindsNothing(target: FuzzTarget) throws {
    let inputs = Self.inputs(target.rawValue)
    #expect(inputs.count >= 20)
    for input in inputs {
      let finding = target.run(try Data(contentsOf: input))
      #expect(finding == nil, "\(input.lastPathComponent): \(finding ?? "")")
    }
  }

  @Test("a few thousand inputs of dice, too")
  func diceFindNothing() {
    var random = SystemSeed(number: 7)
    for _ in 0..<Int((200 * SeedPlan.factor).rounded(.up)) {
      let bytes = random.bytes()
      for target in FuzzTarget.allCases { #expect(target.run(bytes) == nil, "\(target): \(bytes)") }
    }
  }
}

/// Numbers drawn from a seed.
private struct SystemSeed {
  var number: UInt64

  mutating func next() -> UInt64 {
    number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return number >> 33
  }

  mutating func bytes() -> [UInt8] { (0..<(next() % 700)).map { _ in UInt8(truncatingIfNeeded: next()) } }
}
