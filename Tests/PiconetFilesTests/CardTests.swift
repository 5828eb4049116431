import Foundation
import Glibc
import PiconetWire
import TestSupport
import Testing

@testable import PiconetFiles

@Suite(
  "On the file systems of cards, sticks and other systems' disks", .serialized,
  .machine("--adapters 0 --no-daemon --disks"))
struct CardTests {
  private typealias Reception = PartialReception
  private let block = Reception.block
  private static let photo = pattern(300_000)

  private func directory(_ card: Card) throws -> IncomingDirectory {
    try IncomingDirectory(path: card.path, settings: .test())
  }

  private func open(
    _ directory: IncomingDirectory, _ text: String = "film", key: ResumptionKey? = nil
  ) throws -> IncomingFile {
    try IncomingFile(
      in: directory, name: try name(text), offeredSize: UInt64(Reception.whole.count), policy: .rename, resuming: key)
  }

  @Test("files of no, one, many bytes are stored and read back, and nothing else is left", arguments: Card.all)
  func stored(kind: String) throws {
    let card = try Card(kind)
    let directory = try directory(card)
    let sizes = [0, 1, 4096, 3_000_001]
    for count in sizes { try receive("\(count).jpg", Array(Reception.whole.prefix(count)), in: directory) }
    try card.forget()
    #expect(try card.names() == ["0.jpg", "1.jpg", "3000001.jpg", "4096.jpg"])
    for count in sizes {
      #expect(try content(card.path("\(count).jpg")) == Array(Reception.whole.prefix(count)), "\(count) bytes")
    }
  }

  @Test("a taken name is numbered, skipped, overwritten", arguments: Card.all)
  func conflicts(kind: String) throws {
    let card = try Card(kind)
    let directory = try directory(card)
    for seed: UInt8 in 0..<3 { try receive("photo.jpg", pattern(5000, seed: seed), in: directory) }
    #expect(try card.names() == ["photo (2).jpg", "photo (3).jpg", "photo.jpg"])
    #expect(try content(card.path("photo.jpg")) == pattern(5000))
    #expect(try content(card.path("photo (3).jpg")) == pattern(5000, seed: 2))
    #expect(try receive("photo.jpg", [9], in: directory, policy: .skip) == .skipped(name("photo.jpg")))
    #expect(try receive("photo.jpg", [9], in: directory, policy: .overwrite).stored?.name.text == "photo.jpg")
    #expect(try content(card.path("photo.jpg")) == [9])
    #expect(try card.names().count == 3)
  }

  @Test("a name that differs in case alone is taken where the file system says so, and never lost", arguments: Card.all)
  func letters(kind: String) throws {
    let card = try Card(kind)
    let directory = try directory(card)
    try receive("Photo.jpg", [1], in: directory)
    try receive("PHOTO.JPG", [2], in: directory)
    try receive("Stra\u{DF}e.jpg", [3], in: directory)
    try receive("strA\u{DF}E.jpg", [4], in: directory)
    let all = try card.names()
    #expect(Set(try all.map { try content(card.path($0)) }) == [[1], [2], [3], [4]])
    // If both names are the same to the disk, the second file has a number.
    if access(card.path("pHOTO.jpg"), F_OK) == 0 { #expect(all.contains("PHOTO (2).JPG"), "\(all)") }
    try receive("photo.JPG", [5], in: directory, policy: .overwrite)
    #expect(try card.names().count == all.count + (access(card.path("pHOTO.jpg"), F_OK) == 0 ? 0 : 1))
  }

  @Test("a name that it does not take is refused as such, and the next file goes on", arguments: Card.all)
  func names(kind: String) throws {
    let card = try Card(kind)
    let directory = try directory(card)
    for text in ["a:b.jpg", "a?b.jpg", "a*b.jpg", "a\"b.jpg", "a<b>.jpg", "a|b.jpg"] {
      let code = failureCode { try receive(text, [1], in: directory) }
      if let code {
        #expect(code == .nameRefused(.notOnThisDisk), "\(text): \(code)")
      } else {
        #expect(try content(card.path(text)) == [1])
      }
      #expect(try card.names().allSatisfy { !$0.hasPrefix(".") }, "\(text)")
    }
    let long = String(repeating: "\u{E4}", count: 125) + ".jpg"
    try receive(long, [2], in: directory)
    try receive("\u{1F3D4}\u{FE0F} \u{65E5}\u{672C}.jpg", [3], in: directory)
    #expect(try content(card.path(long)) == [2])
    #expect(try content(card.path("\u{1F3D4}\u{FE0F} \u{65E5}\u{672C}.jpg")) == [3])
  }

  @Test("a killed transfer is gone on with behind its last whole block, after the card was out", arguments: Card.all)
  func resumed(kind: String) throws {
    let card = try Card(kind)
    var first: IncomingDirectory? = try directory(card)
    let key = try Reception.key()
    let cut = 2 * block + 17
    do {
      let file = try open(try #require(first), key: key)
      try file.write(Array(Reception.whole[..<cut]))
      let left = try entries(card.path).map { ($0, try content(card.path($0))) }
      file.discard()
      for (name, bytes) in left { try Data(bytes).write(to: URL(filePath: card.path(name))) }
      first = nil
    }
    try card.forget()
    let again = try directory(card)
    again.sweepAbandonedPartials()
    let file = try open(again, key: key)
    #expect(file.resumedSize == UInt64(2 * block))
    try file.write(Array(Reception.whole[Int(file.resumedSize)...]))
    #expect(try file.commit(expectedDigest: Reception.sum).stored?.name.text == "film")
    try card.forget()
    #expect(try content(card.path("film")) == Reception.whole)
    #expect(try card.names() == ["film"])
  }

  @Test("what is kept by a transfer that ended is gone on with, and an abandoned one is swept", arguments: Card.all)
  func kept(kind: String) throws {
    let card = try Card(kind)
    let directory = try directory(card)
    let file = try open(directory, key: try Reception.key())
    try file.write(Array(Reception.whole[..<(3 * block)]))
    file.keep()
    #expect(try card.names().count == 2)
    let next = try open(directory, key: try Reception.key())
    #expect(next.resumedSize == UInt64(3 * block))
    next.discard()
    // As a dead process would have left it.
    let name = ".piconet-1-\(String(repeating: "0", count: 32)).part"
    try Data([1]).write(to: URL(filePath: card.path(name)))
    #expect(directory.sweepAbandonedPartials() == 1)
    #expect(try card.names() == [])
  }

  @Test("the time of a photo is kept to two seconds, also one that the file system can't say", arguments: Card.all)
  func times(kind: String) throws {
    let card = try Card(kind)
    let directory = try directory(card)
    for (text, seconds): (String, Int64) in [("a", 1_700_000_001), ("b", -1), ("c", 4_000_000_000), ("d", 1 << 40)] {
      let file = try IncomingFile(in: directory, name: try name(text), offeredSize: 1, policy: .rename)
      try file.write([1])
      let time = ModificationTime(seconds: seconds, nanoseconds: 999_999_999)
      _ = try file.commit(expectedDigest: digest([1]), modificationTime: time)
      let stored = Int64(try status(card.path(text)).st_mtim.tv_sec)
      if text == "a" { #expect(abs(stored - seconds) <= 2, "\(stored)") }
    }
    #expect(try card.names().count == 4)
  }

  @Test("a file that is sent from it is the same after the kernel has forgotten it", arguments: Card.all)
  func sent(kind: String) throws {
    let card = try Card(kind)
    try receive("photo.jpg", Self.photo, in: try directory(card))
    let file = try OutgoingFile(path: card.path("photo.jpg"))
    var bytes = [UInt8](repeating: 0, count: 100_000)
    _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0) }
    try card.forget()
    #expect(try file.finish() == digest(Self.photo))
  }

  @Test(
    "a full card: refused before a byte is written, or it ends in mid-file and leaves nothing",
    arguments: Card.all.filter { $0 != "ntfs-3g" })
  func full(kind: String) throws {
    let card = try Card(kind)
    let directory = try directory(card)
    let file = try open(directory)
    try file.write(Array(Reception.whole[..<block]))
    try card.fill(allBut: 0)
    let before = try #require(directory.freeSpace)
    let code = failureCode {
      try file.write(Array(Reception.whole[block...]))
      _ = try file.commit(expectedDigest: Reception.sum)
    }
    // If the file system sets space aside, the file has its own.
    if let code {
      guard case .diskFull(let needed, _) = code else {
        Issue.record("\(code)")
        return
      }
      #expect(needed > 0)
      #expect(try card.names() == ["filler"])
    } else {
      #expect(try content(card.path("film")) == Reception.whole)
    }
    let refused = failureCode { _ = try open(directory, "second") }
    if code == nil { #expect(refused != nil, "\(before)") }
  }
}
