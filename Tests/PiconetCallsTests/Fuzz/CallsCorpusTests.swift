import Foundation
import Testing

@Suite("Inputs that fuzzing of calls has kept")
struct CallsCorpusTests {
  @Test("no input of the corpus finds anything")
  func corpusFindsNothing() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Corpus/calls")
    let inputs = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(inputs.count >= 20)
    for input in inputs {
      let finding = CallsFuzz.run(try Data(contentsOf: input))
      #expect(finding == nil, "\(input.lastPathComponent): \(finding ?? "")")
    }
  }
}
