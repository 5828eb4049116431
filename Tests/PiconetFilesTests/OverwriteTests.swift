import Foundation
import Glibc
import Testing

@testable import PiconetFiles

@Suite("What one sender has stored, or found there, is not replaced by another file of it")
struct OverwriteTests {
  private func directory(_ path: String, keepsInodes: Bool) throws -> IncomingDirectory {
    var calls = FileSystemCalls()
    // As FAT, and what comes by way of FUSE.
    if !keepsInodes { calls.keepsInodes = { _ in false } }
    return try IncomingDirectory(path: path, settings: .test(), calls: calls)
  }

  /// - Returns: its path below the directory if it was stored.
  private func overwrite(
    _ path: String, _ bytes: [UInt8], in directory: IncomingDirectory, of files: UsedFiles
  ) throws -> String? {
    let parts = path.split(separator: "/").map(String.init)
    let file = try IncomingFile(
      in: directory, folder: SafeFolder(bytes: Array(parts.dropLast().joined(separator: "/").utf8)),
      name: name(try #require(parts.last)), offeredSize: UInt64(bytes.count), policy: .overwrite, of: files)
    try file.write(bytes)
    return try file.commit(expectedDigest: digest(bytes)).stored?.relativePath
  }

  @Test("where another file has the name, a later one of the name gets a number", arguments: [true, false])
  func notReplaced(keepsInodes: Bool) throws {
    let folder = try TemporaryDirectory()
    let directory = try directory(folder.path, keepsInodes: keepsInodes)
    let files = UsedFiles()
    try folder.file("a.jpg", [9])
    #expect(try overwrite("a.jpg", [1], in: directory, of: files) == "a.jpg")
    #expect(try overwrite("a.jpg", [2], in: directory, of: files) == "a (2).jpg")
    #expect(try content(folder.path("a.jpg")) == [1])
    #expect(try content(folder.path("a (2).jpg")) == [2])
    // Another run of the sender may replace it.
    #expect(try overwrite("a.jpg", [3], in: directory, of: UsedFiles()) == "a.jpg")
  }

  @Test("neither a number that it was given nor the name of content that was there", arguments: [true, false])
  func numbers(keepsInodes: Bool) throws {
    let folder = try TemporaryDirectory()
    let directory = try directory(folder.path, keepsInodes: keepsInodes)
    let files = UsedFiles()
    func overwrite(_ text: String, _ bytes: [UInt8]) throws -> String? {
      try self.overwrite(text, bytes, in: directory, of: files)
    }
    try folder.file("b (2).jpg", [7])
    #expect(try overwrite("a.jpg", [1]) == "a.jpg")
    #expect(try overwrite("a.jpg", [2]) == "a (2).jpg")
    #expect(try overwrite("a (2).jpg", [3]) == "a (3).jpg")
    try folder.file("b.jpg", [6])
    #expect(try overwrite("b (3).jpg", [7]) == nil)
    #expect(try overwrite("b (2).jpg", [8]) == "b (3).jpg")
    let contents: [String: [UInt8]] = [
      "a.jpg": [1], "a (2).jpg": [2], "a (3).jpg": [3], "b.jpg": [6], "b (2).jpg": [7], "b (3).jpg": [8],
    ]
    #expect(try Set(entries(folder.path)) == Set(contents.keys))
    for (text, bytes) in contents { #expect(try content(folder.path(text)) == bytes) }
    // A sender that numbers its names in another way finds it again.
    for offered in ["a.jpg", "a (4).jpg"] {
      let present = try #require(try PresentContent(in: directory, folder: .none, name: name(offered), size: 1))
      while !present.step(.max) {}
      #expect(present.match(digest([3]))?.text == "a (3).jpg")
    }
  }

  @Test("a folder that got a number meets the sender's own folder of that name", arguments: [true, false])
  func numberedFolder(keepsInodes: Bool) throws {
    let folder = try TemporaryDirectory()
    let directory = try directory(folder.path, keepsInodes: keepsInodes)
    for round: UInt8 in 1...2 {
      let files = UsedFiles()
      if round == 1 { try folder.file("Sub", [9]) }
      #expect(try overwrite("Sub/x.jpg", [round, 1], in: directory, of: files) == "Sub (2)/x.jpg")
      let second = "x (\(round + 1)).jpg"
      #expect(try overwrite("Sub (2)/x.jpg", [round, 2], in: directory, of: files) == "Sub (2)/\(second)")
      #expect(try content(folder.path("Sub (2)/\(second)")) == [round, 2])
      #expect(try content(folder.path("Sub (2)/x.jpg")) == [round, 1])
    }
  }

  /// Another spelling leads to a file where the disk takes the two for one name; here its entry is moved there.
  @Test("another spelling that leads to its file", arguments: [true, false], [2, 3])
  func otherSpelling(keepsInodes: Bool, count: Int) throws {
    let folder = try TemporaryDirectory()
    let directory = try directory(folder.path, keepsInodes: keepsInodes)
    let files = UsedFiles()
    try folder.file("there.jpg", [7, 7])
    for (text, bytes) in [("a.jpg", [1, 2]), ("there.jpg", [7, 7])] as [(String, [UInt8])] {
      _ = try overwrite(text, bytes, in: directory, of: files)
      try #require(rename(folder.path(text), folder.path("other \(text)")) == 0)
      let new = [UInt8](repeating: 5, count: count) + Array(text.utf8)
      #expect(try overwrite("other \(text)", new, in: directory, of: files) == "other \(text.dropLast(4)) (2).jpg")
      #expect(try content(folder.path("other \(text)")) == bytes)
    }
    // What is neither is replaced, though it is as large.
    try folder.file("old.jpg", [8, 8])
    #expect(try overwrite("old.jpg", [5], in: directory, of: files) == "old.jpg")
  }

  @Test("two spellings of names that are two files are replaced both", arguments: [true, false])
  func twoFiles(keepsInodes: Bool) throws {
    let folder = try TemporaryDirectory()
    let directory = try directory(folder.path, keepsInodes: keepsInodes)
    let files = UsedFiles()
    let names = ["a.jpg", "A.JPG", "\u{E9}.jpg", "e\u{301}.jpg"]
    for (number, text) in names.enumerated() { try folder.file(text, [UInt8(number), 9]) }
    for (number, text) in names.enumerated() {
      #expect(try overwrite(text, [UInt8(number)], in: directory, of: files)?.utf8.elementsEqual(text.utf8) == true)
    }
    #expect(try entries(folder.path).count == names.count)
  }

  @Test("a file that can't be read stays where it may be one of them")
  func unreadable() throws {
    let folder = try TemporaryDirectory()
    chmod(folder.path, 0o777)
    try asOtherUser {
      let directory = try directory(folder.path, keepsInodes: false)
      let files = UsedFiles()
      _ = try overwrite("a.jpg", [1, 2], in: directory, of: files)
      try folder.file("b.jpg", [3, 4])
      try folder.file("c.jpg", [3, 4, 5])
      for text in ["b.jpg", "c.jpg"] { chmod(folder.path(text), 0) }
      #expect(try overwrite("b.jpg", [5], in: directory, of: files) == "b (2).jpg")
      #expect(try overwrite("c.jpg", [6], in: directory, of: files) == "c.jpg")
    }
  }
}
