import Testing

@testable import PiconetFiles

@Suite("Where the number of a name goes") struct NumberedNameTests {
  @Test(
    "before the ending, behind its stem, and counting on",
    arguments: [
      ("a.tar.gz", "a (2).tar.gz"), ("x.jpg.xmp", "x (2).jpg.xmp"), ("x.CR3.pp3", "x (2).CR3.pp3"),
      ("x.HEIC", "x (2).HEIC"), ("x.y.jpg", "x.y (2).jpg"), ("notes.xmp", "notes (2).xmp"),
      ("IMG (1).jpg", "IMG (2).jpg"), ("IMG (1).jpg.xmp", "IMG (2).jpg.xmp"), ("IMG (1)", "IMG (2)"),
      // A year is no number.
      ("Rome (2019).jpg", "Rome (2019) (2).jpg"), (".tar.gz", ".tar (2).gz"),
    ])
  func numbered(text: String, expected: String) throws {
    guard let name = try? SafeFileName(text) else { return #expect(text.hasPrefix(".")) }
    #expect(name.numbered(2).text == expected)
  }

  @Test("a name that is taken counts on from its own number")
  func countsOn() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let directory = try IncomingDirectory(path: folder.path, settings: .test())
    for (offered, stored) in [
      ("IMG (1).jpg", "IMG (1).jpg"), ("IMG (1).jpg", "IMG (2).jpg"), ("IMG (5).jpg", "IMG (5).jpg"),
      ("IMG (5).jpg", "IMG (6).jpg"), ("IMG (1).jpg", "IMG (3).jpg"), ("a.tar.gz", "a.tar.gz"),
      ("a.tar.gz", "a (2).tar.gz"),
    ] {
      let content = pattern(100, seed: UInt8(try entries(folder.path).count))
      #expect(try receive(offered, content, in: directory).stored?.name.text == stored)
      // The same again is there.
      #expect(try receive(offered, content, in: directory).present?.name.text == stored)
      let present = try #require(
        try PresentContent(in: directory, folder: .none, name: name(offered), size: 100))
      while !present.step(.max) {}
      #expect(present.match(digest(content))?.text == stored)
    }
  }

  @Test("what former versions have numbered is found")
  func former() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let directory = try IncomingDirectory(path: folder.path, settings: .test())
    for (number, (offered, former)) in [
      ("a.tar.gz", "a.tar (2).gz"), ("IMG (1).jpg", "IMG (1) (2).jpg"), ("x.jpg.xmp", "x.jpg (2).xmp"),
    ].enumerated() {
      try folder.file(offered, pattern(100, seed: 50))
      try folder.file(former, pattern(100, seed: UInt8(number)))
      let present = try #require(
        try PresentContent(in: directory, folder: .none, name: name(offered), size: 100))
      while !present.step(.max) {}
      #expect(present.match(digest(pattern(100, seed: UInt8(number))))?.text == former)
    }
  }
}
