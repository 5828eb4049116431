import Foundation
import Glibc
import PiconetWire
import Testing

@testable import PiconetFiles

/// A file that is received in part, and the one that continues it.
struct PartialReception {
  static let block = Int(BlockJournal.blockByteCount)
  static let whole = pattern(3 * block + block / 2)
  static let sum = digest(whole)

  let folder: TemporaryDirectory
  let directory: IncomingDirectory

  init() throws {
    folder = try TemporaryDirectory(inMemory: true)
    directory = try IncomingDirectory(path: folder.path, settings: .test())
  }

  static func key(
    _ sender: UInt8 = 1, _ identity: [UInt8] = [7], size: Int = whole.count, isKnown: Bool = true
  ) throws -> ResumptionKey {
    let peer = try #require(PeerID(bytes: [UInt8](repeating: sender, count: PeerID.byteCount)))
    return try #require(ResumptionKey(sender: peer, isKnown: isKnown, identity: identity, size: UInt64(size)))
  }

  func open(_ key: ResumptionKey? = nil, size: Int = whole.count) throws -> IncomingFile {
    let key = try key ?? Self.key(size: size)
    return try IncomingFile(
      in: directory, name: try name("film"), offeredSize: UInt64(size), policy: .rename, resuming: key)
  }

  /// Leaves what a process leaves that is killed after so many bytes.
  func die(after count: Int) throws {
    let file = try open()
    try file.write(Array(Self.whole[Int(file.resumedSize)..<count]))
    let left = try entries(folder.path).map { ($0, try content(folder.path($0))) }
    file.discard()
    // As new files, on which no process holds a lock.
    for (name, bytes) in left { try folder.file(name, bytes) }
  }

  var part: String { get throws { folder.path(try Self.key().partialName.text) } }
  var journal: String { get throws { folder.path(try Self.key().partialName.journal) } }

  /// Goes on to the end, and gives the offset at which it began.
  func finish(_ key: ResumptionKey? = nil) throws -> UInt64 {
    let file = try open(key)
    try file.write(Array(Self.whole[Int(file.resumedSize)...]))
    let stored = try #require(try file.commit(expectedDigest: Self.sum).stored)
    #expect(try content(stored.path) == Self.whole)
    return file.resumedSize
  }
}

@Suite("Going on with a partial file") struct ResumptionTests {
  private typealias Reception = PartialReception
  private let block = PartialReception.block

  @Test(
    "after a death the file goes on behind its last whole block", arguments: [0, 1, 1 << 20, (3 << 20) - 1, 3 << 20])
  func death(count: Int) throws {
    let reception = try Reception()
    try reception.die(after: count)
    #expect(try reception.finish() == UInt64(count / block * block))
    #expect(try entries(reception.folder.path) == ["film"])
  }

  @Test("what a stranger began goes on once the stranger is known, and what a known sender began when it is forgotten")
  func standing() throws {
    for isKnown in [true, false] {
      let reception = try Reception()
      let file = try reception.open(try Reception.key(isKnown: isKnown))
      try file.write(Array(Reception.whole[..<(2 * block)]))
      file.keep()
      let begun = try entries(reception.folder.path)
      #expect(begun.count == 2 && begun.allSatisfy { $0.contains("-stranger.") != isKnown }, "\(begun)")
      // It keeps the standing that it began with.
      let later = try reception.open(try Reception.key(isKnown: !isKnown))
      #expect(later.resumedSize == 2 * block)
      later.keep()
      #expect(try entries(reception.folder.path) == begun)
      #expect(try reception.finish(try Reception.key(isKnown: !isKnown)) == 2 * block)
      #expect(try entries(reception.folder.path) == ["film"])
    }
  }

  @Test("it may die again and again")
  func deaths() throws {
    let reception = try Reception()
    for count in [block + 5, 2 * block + 9, 2 * block + 10, 3 * block + 1] { try reception.die(after: count) }
    #expect(try reception.finish() == UInt64(3 * block))
  }

  @Test("all bytes may be there already")
  func complete() throws {
    let reception = try Reception()
    let size = 2 * block
    let key = try Reception.key(size: size)
    let first = try reception.open(key, size: size)
    try first.write(Array(Reception.whole[..<size]))
    first.keep()
    let second = try reception.open(key, size: size)
    #expect(second.resumedSize == UInt64(size))
    #expect(try second.commit(expectedDigest: digest(Array(Reception.whole[..<size]))).stored != nil)
  }

  @Test("what is kept on purpose is gone on with, and less than a block is not kept")
  func kept() throws {
    let reception = try Reception()
    let short = try reception.open()
    try short.write(Array(Reception.whole[..<(block - 1)]))
    short.keep()
    #expect(try entries(reception.folder.path) == [])
    let file = try reception.open()
    try file.write(Array(Reception.whole[..<(2 * block + 7)]))
    file.keep()
    #expect(try entries(reception.folder.path).count == 2)
    #expect(try status(reception.part).st_mode & 0o777 == 0o600)
    #expect(try reception.finish() == UInt64(2 * block))
  }

  @Test("a discarded file, and one that ends without a word, leave nothing")
  func discarded() throws {
    let reception = try Reception()
    for isDiscarded in [true, false] {
      var file: IncomingFile? = try reception.open()
      try file?.write(Array(Reception.whole[..<(2 * block)]))
      if isDiscarded { file?.discard() }
      file = nil
      #expect(try entries(reception.folder.path) == [])
    }
  }

  @Test("another sender, another identity or another size begins anew, and leaves the kept one alone")
  func otherKeys() throws {
    let reception = try Reception()
    try reception.die(after: 2 * block)
    let size = Reception.whole.count
    for key in [try Reception.key(2), try Reception.key(1, [7, 7]), try Reception.key(size: size + 1)] {
      let file = try IncomingFile(
        in: reception.directory, name: try name("x"), offeredSize: key.size, policy: .rename, resuming: key)
      #expect(file.resumedSize == 0)
    }
    #expect(try reception.finish() == UInt64(2 * block))
  }

  @Test("of two transfers of one content at once only the first can be gone on with; one of them is stored")
  func twoAtOnce() throws {
    let reception = try Reception()
    try reception.die(after: 2 * block)
    let first = try reception.open()
    #expect(first.resumedSize == UInt64(2 * block))
    #expect(try reception.finish() == 0)
    try first.write(Array(Reception.whole[(2 * block)...]))
    #expect(try first.commit(expectedDigest: Reception.sum).present?.name.text == "film")
    #expect(try entries(reception.folder.path) == ["film"])
  }

  @Test("content that is not what was offered is not kept: the next transfer begins at its beginning")
  func mismatch() throws {
    let reception = try Reception()
    let file = try reception.open()
    try file.write(Reception.whole)
    let code = failureCode { _ = try file.commit(expectedDigest: digest([1])) }
    guard case .digestMismatch? = code else {
      Issue.record("\(String(describing: code))")
      return
    }
    #expect(try entries(reception.folder.path) == [])
    #expect(try reception.finish() == 0)
  }

  @Test("a link, a folder or a FIFO where a kept file would be is left alone, and the transfer goes on without")
  func inTheWay() throws {
    for what in ["link", "folder", "fifo", "hard link"] {
      for isJournal in [false, true] {
        let reception = try Reception()
        let place = try isJournal ? reception.journal : reception.part
        try reception.folder.file("target", [1, 2, 3])
        switch what {
        case "link": symlink(reception.folder.path("target"), place)
        case "folder": mkdir(place, 0o700)
        case "fifo": mkfifo(place, 0o600)
        default: link(reception.folder.path("target"), place)
        }
        #expect(try reception.finish() == 0)
        #expect(try content(reception.folder.path("target")) == [1, 2, 3])
      }
    }
  }

  @Test("the start of a partial file can be read")
  func start() throws {
    let reception = try Reception()
    try reception.die(after: block)
    #expect(try reception.open().start(4096) == Array(Reception.whole[..<4096]))
  }
}
