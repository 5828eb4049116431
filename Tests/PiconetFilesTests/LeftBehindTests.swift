import Foundation
import Glibc
import Testing

@testable import PiconetFiles

/// The kept part of a file is of no use once the file is stored, by whichever process, and after any crash in between.
@Suite("No partial file stays beside the stored one") struct LeftBehindTests {
  private typealias Reception = PartialReception
  private let block = PartialReception.block

  /// Acts as another Piconet process, as far as the system knows: has the kept file open, with its lock.
  private func holding(_ path: String) throws -> Int32 {
    let descriptor = open(path, O_RDWR)
    try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return descriptor
  }

  @Test("a former transfer of the content that ends after it was stored by another keeps nothing")
  func former() throws {
    let reception = try Reception()
    // Its link is dead, and the receiver has not noticed yet.
    let former = try reception.open()
    try former.write(Array(Reception.whole[..<(2 * block)]))
    #expect(try reception.finish() == 0)
    former.keep()
    #expect(try entries(reception.folder.path) == ["film"])
  }

  @Test("one that dies after it: the next start removes what it had")
  func dead() throws {
    let reception = try Reception()
    try reception.die(after: 2 * block)
    let descriptor = try holding(reception.part)
    #expect(try reception.finish() == 0)
    close(descriptor)
    #expect(try entries(reception.folder.path) == [try Reception.key().partialName.text, "film"].sorted())
    try IncomingDirectory(path: reception.folder.path, settings: .test()).sweepAbandonedPartials()
    #expect(try entries(reception.folder.path) == ["film"])
  }

  @Test("one that has died by the time that it is stored leaves nothing at once")
  func dying() throws {
    let reception = try Reception()
    try reception.die(after: 2 * block)
    let descriptor = try holding(reception.part)
    let file = try reception.open()
    #expect(file.resumedSize == 0)
    close(descriptor)
    try file.write(Reception.whole)
    #expect(try file.commit(expectedDigest: Reception.sum).stored != nil)
    #expect(try entries(reception.folder.path) == ["film"])
  }

  @Test("one that lives finds its content there, and leaves nothing")
  func living() throws {
    let reception = try Reception()
    let first = try reception.open()
    try first.write(Array(Reception.whole[..<(2 * block)]))
    #expect(try reception.finish() == 0)
    try first.write(Array(Reception.whole[(2 * block)...]))
    #expect(try first.commit(expectedDigest: Reception.sum).present?.name.text == "film")
    #expect(try entries(reception.folder.path) == ["film"])
  }

  @Test(
    "death between the link that stores a file and the end of its hidden name: the next start, or offer, ends that",
    arguments: [true, false])
  func linked(sweeps: Bool) throws {
    let reception = try Reception()
    try reception.die(after: Reception.whole.count)
    try #require(link(reception.part, reception.folder.path("film")) == 0)
    if sweeps {
      #expect(reception.directory.sweepAbandonedPartials() == 1)
    } else {
      let file = try reception.open()
      #expect(file.resumedSize == 0)
      file.discard()
    }
    #expect(try entries(reception.folder.path) == ["film"])
    #expect(try content(reception.folder.path("film")) == Reception.whole)
  }

  @Test("death between the rename and the end of the journal: the next start removes the journal")
  func renamed() throws {
    let reception = try Reception()
    try reception.die(after: Reception.whole.count)
    try #require(rename(reception.part, reception.folder.path("film")) == 0)
    reception.directory.sweepAbandonedPartials()
    #expect(try entries(reception.folder.path) == ["film"])
  }
}
