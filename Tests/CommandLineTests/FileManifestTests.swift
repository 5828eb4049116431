import Foundation
import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("A manifest of files that a sender asks about")
struct FileManifestTests {
  private func digest(_ byte: UInt8) throws -> SHA256Digest {
    try #require(SHA256Digest(bytes: [UInt8](repeating: byte, count: 32)))
  }

  private func file(_ name: String, _ bytes: Int64 = 10, _ byte: UInt8 = 7) throws -> FileManifest.File {
    FileManifest.File(name: name, bytes: bytes, digest: try digest(byte))
  }

  @Test("and its answer are written as the document says")
  func document() throws {
    let document = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../Documentation/wire-format.md")
    let text = try String(contentsOf: document.standardized, encoding: .utf8)
    func block(_ name: String) throws -> String {
      try #require(text.components(separatedBy: "```\(name)\n").last?.components(separatedBy: "```").first)
    }
    var manifest = FileManifest(number: 7)
    #expect(manifest.add(try file("holiday/beach.jpg", 1_000, 0x11)))
    #expect(manifest.add(try file("sun.png", 200, 0x22)))
    #expect(manifest.add(try file("holiday/rain.jpg", 30, 0x33)))
    #expect(String(decoding: manifest.encoded, as: UTF8.self) == (try block("golden-manifest")))
    let answer = ManifestAnswer(number: 7, outcomes: [.present, .absent, .presentAs("holiday/rain (2).jpg")])
    #expect(String(decoding: answer.encoded(), as: UTF8.self) == (try block("golden-manifest-answer")))
  }

  @Test("are read as they were written")
  func roundTrip() throws {
    var manifest = FileManifest(number: 0)
    #expect(FileManifest(manifest.encoded[...]) == manifest)
    for name in ["a", "a b  c.jpg", " ", "ordner/Lichter der Straße.webp"] { #expect(manifest.add(try file(name))) }
    #expect(FileManifest(manifest.encoded[...]) == manifest)
    let answer = ManifestAnswer(number: .max, outcomes: [.absent, .presentAs("x/ y"), .present])
    #expect(ManifestAnswer(answer.encoded()[...]) == answer)
    #expect(ManifestAnswer(ManifestAnswer(number: 0).encoded()[...]) == ManifestAnswer(number: 0))
  }

  @Test("takes no more than a message and its limits have room for, and no name of two lines")
  func limits() throws {
    var manifest = FileManifest(number: 1)
    #expect(!manifest.add(try file("a\nb")))
    for number in 0..<FileManifest.fileLimit { #expect(manifest.add(try file("\(number)"))) }
    #expect(!manifest.add(try file("one more")))
    var long = FileManifest(number: 1)
    while long.add(try file(String(repeating: "x", count: 250))) {}
    #expect((100..<FileManifest.fileLimit).contains(long.files.count))
    #expect(long.encoded.count <= FileManifest.byteLimit)
    #expect(FileManifest(long.encoded[...]) == long)
  }

  @Test("an answer without room for all paths leaves some of them out, and still has all its lines")
  func answerLimit() throws {
    let paths = (0..<40).map { "\($0) " + String(repeating: "x", count: 50) }
    let answer = ManifestAnswer(number: 1, outcomes: paths.map { .presentAs($0) } + [.presentAs("a\nb"), .present])
    let text = answer.encoded(atMost: 1_000)
    #expect(text.count <= 1_000)
    let read = try #require(ManifestAnswer(text[...]))
    #expect(read.outcomes.count == 42)
    #expect(read.outcomes[0] == answer.outcomes[0] && read.outcomes[39] == .absent)
    #expect(read.outcomes[40...] == [.absent, .present])
  }

  @Test(
    "other bytes are refused",
    arguments: [
      "", "\n", "piconet-manifest 1 7", "piconet-manifest 1 \n", "piconet-manifest 2 7\n", "piconet-manifest 1 -7\n",
      "piconet-manifest 1 7 \n", "piconet-manifest 1 99999999999999999999\n", "piconet-manifest 1 7\n\n",
      "piconet-manifest 1 7\n10 DIGEST\n", "piconet-manifest 1 7\n10 DIGEST \n", "piconet-manifest 1 7\n10 abcd a\n",
      "piconet-manifest 1 7\n-1 DIGEST a\n", "piconet-manifest 1 7\n DIGEST a\n",
      "piconet-manifest 1 7\n9999999999999999999 DIGEST a\n", "piconet-manifest 1 7\n33554432 DIGEST a\n1 DIGEST b\n",
    ])
  func hostile(_ text: String) throws {
    let text = text.replacing("DIGEST", with: String(repeating: "7a", count: 32))
    #expect(FileManifest(Array(text.utf8)[...]) == nil)
  }

  @Test(
    "nor are they answers",
    arguments: [
      "", "piconet-manifest-answer 1 7", "piconet-manifest-answer 1 x\n=\n", "piconet-manifest-answer 1 7\n\n",
      "piconet-manifest-answer 1 7\n+\n", "piconet-manifest-answer 1 7\n= \n", "piconet-manifest-answer 1 7\n?\n",
    ])
  func hostileAnswer(_ text: String) {
    #expect(ManifestAnswer(Array(text.utf8)[...]) == nil)
    let many = ManifestAnswer(number: 1, outcomes: Array(repeating: .present, count: FileManifest.fileLimit + 1))
    #expect(ManifestAnswer(many.encoded()[...]) == nil)
  }

  @Test("large files, URLs, and what has no room any more are offered")
  func split() {
    func gathered(_ name: String, _ size: Int64) -> GatheredFile {
      GatheredFile(
        path: LocalPath(name), size: size, kind: nil, name: AcceptableName(Array("x".utf8)), folder: nil, renaming: nil)
    }
    let large = FileManifest.largestFile
    let files = [
      gathered("a", 1), gathered("https://example.org/b", 0), gathered("c", large + 1), gathered("d", large),
      gathered("e", large), gathered("f", large), gathered("g", large), gathered("h", 5),
    ]
    let (claimed, others) = FilesToClaim.split(files)
    #expect(claimed.map(\.path.readable) == ["a", "d", "e", "f", "h"])
    #expect(others.count == 3)
  }

  @Test("is asked once many in a row were there, larger as long as most are, and more rarely where they are not")
  func pace() {
    var pace = ManifestPace()
    for _ in 1..<ManifestPace.firstRow { pace.ended(wasPresent: true) }
    #expect(pace.isNear && pace.count == nil)
    pace.ended(wasPresent: false)
    #expect(!pace.isNear)
    for _ in 0..<ManifestPace.firstRow { pace.ended(wasPresent: true) }
    #expect(pace.count == 64)
    pace.answered(present: 64, of: 64)
    #expect(pace.count == 128)
    for _ in 0..<5 { pace.answered(present: 100, of: 128) }
    #expect(pace.count == FileManifest.fileLimit)
    pace.answered(present: 2, of: 3)
    #expect(pace.count == nil)
    for _ in 0..<ManifestPace.firstRow { pace.ended(wasPresent: true) }
    #expect(pace.count == nil)
    for _ in 0..<ManifestPace.firstRow { pace.ended(wasPresent: true) }
    #expect(pace.count == 64)
    for _ in 0..<40 { pace.answered(present: 0, of: 1) }
    for _ in 1..<ManifestPace.longestRow { pace.ended(wasPresent: true) }
    #expect(pace.count == nil)
    pace.ended(wasPresent: true)
    #expect(pace.count == 64)
  }
}
