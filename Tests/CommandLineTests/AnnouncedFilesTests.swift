import Foundation
import PiconetTerminal
import Testing

@testable import PiconetCommandLine

@Suite("What a sender announces")
struct AnnouncedFilesTests {
  private func files(_ count: Int, name: (Int) -> String = { "album/IMG_\($0).jpg" }) -> AnnouncedFiles {
    var files = AnnouncedFiles()
    for number in 0..<count { files.add(name(number), bytes: Int64(number) * 1_000) }
    files.isWhole = true
    return files
  }

  @Test("is written as the document's example")
  func golden() throws {
    let document = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../Documentation/wire-format.md")
    let text = try String(contentsOf: document.standardized, encoding: .utf8)
    let block = try #require(
      text.components(separatedBy: "```golden-announcement\n").last?.components(separatedBy: "```").first)
    var files = AnnouncedFiles()
    for (name, size) in [("holiday/beach.jpg", 1_000), ("sun.png", 200), ("12:30.jpg", 30)] as [(String, Int64)] {
      files.add(name, bytes: size)
    }
    files.isWhole = true
    #expect(String(decoding: files.encoded, as: UTF8.self) == block)
    #expect(AnnouncedFiles(Array(block.utf8)) == files)
  }

  @Test("is read as it was written")
  func roundTrip() {
    for count in [0, 1, 7, 100] { #expect(AnnouncedFiles(files(count).encoded) == files(count)) }
    var partial = files(3)
    partial.isWhole = false
    #expect(AnnouncedFiles(partial.encoded) == partial)
    #expect(partial.text == "at least 3 files, 3.0 kB")
  }

  @Test("fits into an invitation, however many files there are and whatever they are called")
  func limits() throws {
    let many = files(100_000)
    #expect(many.first.count == AnnouncedFiles.fileLimit)
    #expect(try #require(AnnouncedFiles(many.encoded)).files == 100_000)
    let long = files(300) { "\($0)" + String(repeating: "ä", count: 120) }
    #expect(long.encoded.count <= AnnouncedFiles.byteLimit)
    let read = try #require(AnnouncedFiles(long.encoded))
    #expect(read.files == 300 && read.first.count < 40 && read.first.count > 30)
  }

  @Test("a malformed or contradictory announcement is refused")
  func refused() {
    for text in [
      "", "hello", "piconet-files 1", "piconet-files 1\n", "piconet-files 2\n1 1 whole\n", "piconet-files 1\n1 1\n",
      "piconet-files 1\n1 1 most\n", "piconet-files 1\n-1 1 whole\n", "piconet-files 1\n1 99999999999999999999 whole\n",
      "piconet-files 1\n1 1 whole", "piconet-files 1\n1 1 whole\n5 a", "piconet-files 1\n1 1 whole\n5\n",
      "piconet-files 1\n1 1 whole\n5 \n", "piconet-files 1\n1 1 whole\nx a\n", "piconet-files 1\n0 0 whole\n5 a\n",
      "piconet-files 1\n\u{0661} 1 whole\n",
    ] {
      #expect(AnnouncedFiles(Array(text.utf8)) == nil, "\(text)")
    }
    #expect(AnnouncedFiles(Array("piconet-files 1\n1 1 whole\n".utf8) + [0xFF, 0x0A]) == nil)
    #expect(AnnouncedFiles([UInt8](repeating: 0x20, count: 8_193)) == nil)
    let many = String(repeating: "1 a\n", count: 201)
    #expect(AnnouncedFiles(Array("piconet-files 1\n500 1 whole\n\(many)".utf8)) == nil)
    #expect(AnnouncedFiles(Array("piconet-files 1\n1 1 whole from later\n".utf8))?.files == 1)
  }

  @Test("names cannot write to the terminal, and the sum of sizes has an end")
  func hostile() {
    let hostile = AnnouncedFiles(
      Array("piconet-files 1\n2 9223372036854775807 whole\n9223372036854775807 \u{1B}[2Jx\n1 b\n".utf8))
    let lines = hostile?.lines(safe: { displaySafe($0, unicode: true) }) ?? []
    #expect(lines.count == 2 && !lines.joined().contains("\u{1B}"))
    #expect(hostile?.roomText(free: 1_000)?.contains("NOT ENOUGH") == true)
    var sum = AnnouncedFiles()
    for _ in 0..<3 { sum.add("x", bytes: .max) }
    #expect(sum.bytes == .max)
  }

  @Test("of many only the first are named, and the rest counted")
  func lines() {
    #expect(
      files(1_234).lines(atMost: 2, safe: { $0 }) == [
        "  album/IMG_0.jpg  0 B", "  album/IMG_1.jpg  1.0 kB", "  and 1,232 more",
      ])
    #expect(files(10).lines(atMost: 10, isNumbered: true, safe: { $0 })[0] == "   1  album/IMG_0.jpg  0 B")
    #expect(files(3).roomText(free: nil) == nil)
    #expect(files(3).roomText(free: 5_000) == "5.0 kB are free here.")
    #expect(files(3).roomText(free: 1_000) == "1.0 kB are free here: NOT ENOUGH, 2.0 kB are lacking")
  }
}

@Suite("A choice of some files")
struct OfferSelectionTests {
  private let announced: AnnouncedFiles = {
    var files = AnnouncedFiles()
    for name in ["a.jpg", "album/b.JPG", "album/c.heic", "d [1].png"] { files.add(name, bytes: 1) }
    files.isWhole = true
    return files
  }()

  private func taken(_ line: String) throws(OfferSelection.Problem) -> [String] {
    let selection = try OfferSelection(line, of: announced, shown: 4)
    return announced.first.map(\.name).filter(selection.takes)
  }

  @Test("by numbers, ranges and patterns, in whatever letters")
  func chosen() throws {
    #expect(try taken("1") == ["a.jpg"])
    #expect(try taken(" 2-3, 1 ") == ["a.jpg", "album/b.JPG", "album/c.heic"])
    #expect(try taken("*.jpg") == ["a.jpg", "album/b.JPG"])
    #expect(try taken("ALBUM/*") == ["album/b.JPG", "album/c.heic"])
    #expect(try taken("4 c.heic") == ["album/c.heic", "d [1].png"])
  }

  @Test("a choice with a word that fits no file, or a number that is not in the list, is refused")
  func refused() {
    for line in ["0", "5", "3-2", "1-9", "99999999999999999999", "*.mov", "1-2-3", "-1", "", " , "] {
      #expect(throws: OfferSelection.Problem.self, "\(line)") { try taken(line) }
    }
  }

  @Test("where not all have been counted a pattern may fit what is still to come")
  func partial() throws {
    var more = announced
    more.isWhole = false
    #expect(try OfferSelection("*.mov", of: more, shown: 4).takes("x/y.MOV"))
  }
}
