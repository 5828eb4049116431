import Foundation
import Testing

@Suite("Inputs that fuzzing of DNSSD has kept")
struct DNSSDCorpusTests {
  @Test("no input of the corpus finds anything")
  func corpusFindsNothing() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Corpus/dnssd")
    let inputs = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(inputs.count >= 20)
    for input in inputs {
      let finding = DNSSDFuzz.run(try Data(contentsOf: input))
      #expect(finding == nil, "\(input.lastPathComponent): \(finding ?? "")")
    }
  }
}
