import PiconetEngine
import Testing

@testable import PiconetFiles

@Suite struct RandomNameTests {
  private static let pieces: [[UInt8]] =
    [
      "..", ".", "/", "\\", "\0", "\n", " ", "-", "a", "b", "photo", ".jpg", "CON", "nul", "é", "e\u{301}", "写", "👩‍👧",
      "\u{202E}", "\u{200B}", "\u{2028}", "~", "%2e%2e%2f", "$(id)", "*", ":", "(2)", ".piconet-1-", ".part",
      "\u{3000}", ".desktop",
    ].map { Array($0.utf8) } + [[0xFF], [0xC0, 0xAF], [UInt8](repeating: 0x7A, count: 120)]

  private static func name(_ dice: inout SeededRandom) -> [UInt8] {
    if Int.random(in: 0..<8, using: &dice) == 0 {
      return (0..<Int.random(in: 0...300, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice) }
    }
    return (0..<Int.random(in: 0...5, using: &dice)).flatMap { _ in pieces.randomElement(using: &dice) ?? [] }
  }

  @Test("of thousands of random names each accepted one makes one entry in the directory, and nothing outside")
  func property() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let inbox = try folder.folder("inbox")
    try folder.file("canary", [1])
    let directory = try IncomingDirectory(path: inbox, settings: .test())
    var dice = SeededRandom(seed: 2)
    var names: Set<[UInt8]> = []
    var refusals: Set<FileNameRefusal> = []
    for round in 0..<6000 {
      let bytes = Self.name(&dice)
      do {
        let name = try SafeFileName(bytes: bytes)
        let content = withUnsafeBytes(of: round) { Array($0) }
        let file = try IncomingFile(in: directory, name: name, offeredSize: 8, policy: .rename)
        try file.write(content)
        let stored = try #require(try file.commit(expectedDigest: digest(content)).stored)
        #expect(names.insert(Array(stored.name.text.utf8)).inserted)
        #expect(stored.path == directory.path + "/" + stored.name.text)
      } catch let refusal as FileNameRefusal {
        refusals.insert(refusal)
      }
    }
    #expect(Set(try entries(inbox).map { Array($0.utf8) }) == names)
    #expect(try entries(folder.path) == ["canary", "inbox"])
    #expect(try content(folder.path("canary")) == [1])
    // The dice have met both sides of every rule.
    #expect(names.count > 500)
    #expect(refusals == Set(FileNameRefusal.allCases).subtracting([.tooDeep, .folderTooLong, .notOnThisDisk]))
  }
}
