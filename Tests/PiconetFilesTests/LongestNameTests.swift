import Glibc
import Testing

@testable import PiconetFiles

/// eCryptfs, which encrypts names, takes 143 bytes.
@Suite("On a file system that takes shorter names") struct LongestNameTests {
  private func directory(_ folder: TemporaryDirectory, _ longest: Int) throws -> IncomingDirectory {
    var calls = FileSystemCalls()
    calls.longestName = { _ in longest }
    return try IncomingDirectory(path: folder.path, settings: .test(), calls: calls)
  }

  private func long(_ count: Int) -> String { String(repeating: "a", count: count - 4) + ".jpg" }

  @Test("a longer name of a file or a folder is refused before the transfer", arguments: ["", "b/", "b/c/"])
  func refused(above: String) throws {
    let folder = try TemporaryDirectory()
    let directory = try directory(folder, 143)
    let tooLong = FileFailure.Code.nameRefused(.tooLong)
    for (path, text, expected) in [
      (above, long(143), nil), (above, long(144), tooLong), (above + long(143), "a", nil),
      (above + long(144), "a", tooLong), (above + long(144) + "/b", "a", tooLong),
    ] as [(String, String, FileFailure.Code?)] {
      let below = try SafeFolder(bytes: Array(path.split(separator: "/").joined(separator: "/").utf8))
      let offered = try name(text)
      for policy in ConflictPolicy.allCases {
        let code = failureCode {
          _ = try directory.conflictOutcome(name: offered, folder: below, size: 1, policy: policy)
        }
        #expect(code == expected)
      }
      let compared = failureCode { _ = try PresentContent(in: directory, folder: below, name: offered, size: 1) }
      #expect(compared == expected)
      let opened = failureCode {
        _ = try IncomingFile(in: directory, folder: below, name: offered, offeredSize: 1, policy: .rename)
      }
      #expect(opened == expected)
    }
    #expect(try entries(folder.path) == [])
    let offered = try name(long(144))
    let failure = #expect(throws: FileFailure.self) { try directory.checkCharacters(of: offered) }
    #expect(failure?.blame == .local)
  }

  @Test("a number shortens a name as far as needed, and what is stored so is found again")
  func numbered() throws {
    let folder = try TemporaryDirectory()
    let directory = try directory(folder, 143)
    for byte: UInt8 in 1...3 {
      #expect(try receive(long(143), [byte], in: directory).stored != nil)
      #expect(try receive(long(143), [byte], in: directory).present != nil)
    }
    let stem = String(repeating: "a", count: 135)
    #expect(try Set(entries(folder.path)) == [long(143), stem + " (2).jpg", stem + " (3).jpg"])
    let content = try #require(
      try PresentContent(in: directory, folder: .none, name: try name(long(143)), size: 1))
    while !content.step(.max) {}
    #expect(content.match(digest([3]))?.text == stem + " (3).jpg")
    // Something else has the folder's name.
    let below = try SafeFolder(bytes: Array(long(143).utf8))
    let file = try IncomingFile(in: directory, folder: below, name: try name("b"), offeredSize: 1, policy: .rename)
    try file.write([1] as [UInt8])
    #expect(try file.commit(expectedDigest: digest([1])).stored?.relativePath == stem + " (4).jpg/b")
  }

  @Test("where the file system can't say, or takes more, 255 bytes are taken", arguments: [0, 255, 1530, Int.max])
  func unknown(longest: Int) throws {
    let folder = try TemporaryDirectory()
    let directory = try directory(folder, longest)
    #expect(directory.longestName == 255)
    for byte: UInt8 in 1...2 { #expect(try receive(long(255), [byte], in: directory).stored != nil) }
    #expect(try entries(folder.path).count == 2)
  }

  @Test("a disk that takes hardly more than a number leaves something of the name")
  func tiny() throws {
    let numbered = try name("\u{1F3D4}\u{FE0F} abc.jpeg").numbered(2, fitting: 3)
    #expect(numbered.text.unicodeScalars.elementsEqual("\u{1F3D4} (2).jpeg".unicodeScalars))
    #expect(try SafeFileName(numbered.text) == numbered)
  }
}
