import Foundation
import Testing

@Suite("Inputs that fuzzing of SDP has kept")
struct SDPCorpusTests {
  @Test("no input of the corpus finds anything")
  func corpusFindsNothing() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Corpus/sdp")
    let inputs = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(inputs.count >= 20)
    for input in inputs {
      let finding = SDPFuzz.run(try Data(contentsOf: input))
      #expect(finding == nil, "\(input.lastPathComponent): \(finding ?? "")")
    }
  }
}
