import Foundation
import Glibc
import PiconetEngine
import Testing

@testable import PiconetFiles

/// Whatever is in a journal and in the file beside it: no wrong byte is taken for right, and the transfer is stored.
@Suite("Journals of partial files, damaged") struct HostileJournalTests {
  private typealias Reception = PartialReception
  private let block = PartialReception.block

  /// Three whole blocks and a half, then `damage`, then the rest.
  private func resumed(_ damage: (inout [UInt8], inout [UInt8]) throws -> Void) throws -> UInt64 {
    let reception = try Reception()
    try reception.die(after: 3 * block + 100)
    var (part, journal) = (try content(reception.part), try content(reception.journal))
    #expect(journal.count == BlockJournal.headerByteCount + 3 * 32)
    try damage(&part, &journal)
    try Data(part).write(to: URL(fileURLWithPath: try reception.part))
    try Data(journal).write(to: URL(fileURLWithPath: try reception.journal))
    let offset = try reception.finish()
    #expect(try entries(reception.folder.path) == ["film"])
    return offset
  }

  @Test(
    "a torn journal counts as far as it is whole", arguments: [0, 1, 15, 63, 64, 65, 95, 96, 97, 127, 128, 159, 160])
  func torn(count: Int) throws {
    let entries = max(0, count - BlockJournal.headerByteCount) / 32
    #expect(try resumed { $1 = Array($1[..<count]) } == UInt64(entries * block))
  }

  @Test("a file that is shorter than its journal counts as far as it goes", arguments: [0, 1, 1 << 20, (2 << 20) + 7])
  func shortFile(count: Int) throws {
    #expect(try resumed { part, _ in part = Array(part[..<count]) } == UInt64(count / block * block))
  }

  @Test("a file, or a journal, that is longer than what was offered counts as far as it is right")
  func tooLong() throws {
    #expect(
      try resumed { part, journal in
        part = Reception.whole + pattern(2 * block, seed: 3)
        journal += pattern(32 * 10)
      } == UInt64(3 * block))
  }

  @Test("a journal of another file, another size or another format counts for nothing")
  func other() throws {
    let reception = try Reception()
    let file = try IncomingFile(
      in: reception.directory, name: try name("other"), offeredSize: UInt64(3 * block), policy: .rename,
      resuming: try Reception.key(2, size: 3 * block))
    try file.write(Array(Reception.whole[..<(2 * block)]))
    let others = try content(reception.folder.path(try Reception.key(2, size: 3 * block).partialName.journal))
    #expect(try resumed { $1 = others } == 0)
    for place in [0, 16, 23, 24, 31, 32, 63] { #expect(try resumed { $1[place] ^= 1 } == 0) }
  }

  @Test(
    "a flipped bit anywhere: what is before its block counts, and nothing behind", arguments: 0..<24 as Range<UInt64>)
  func flipped(seed: UInt64) throws {
    var dice = SeededRandom(seed: seed)
    let isInJournal = Bool.random(using: &dice)
    var place = 0
    let offset = try resumed { part, journal in
      if isInJournal {
        place = Int.random(in: BlockJournal.headerByteCount..<journal.count, using: &dice)
        journal[place] ^= 1 << UInt8.random(in: 0...7, using: &dice)
      } else {
        place = Int.random(in: 0..<part.count, using: &dice)
        part[place] ^= 1 << UInt8.random(in: 0...7, using: &dice)
      }
    }
    let broken = isInJournal ? (place - BlockJournal.headerByteCount) / 32 : place / block
    #expect(offset == UInt64(min(3, broken) * block))
  }

  @Test("random bytes in place of either", arguments: 0..<8 as Range<UInt64>)
  func random(seed: UInt64) throws {
    var dice = SeededRandom(seed: seed)
    let offset = try resumed { part, journal in
      let noise = (0..<Int.random(in: 0...4096, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice) }
      if seed % 2 == 0 {
        journal.replaceSubrange(Int.random(in: 0...journal.count, using: &dice)..., with: noise)
      } else {
        part.replaceSubrange(Int.random(in: 0...part.count, using: &dice)..., with: noise)
      }
    }
    #expect(offset % UInt64(block) == 0)
    #expect(offset <= UInt64(3 * block))
  }
}
