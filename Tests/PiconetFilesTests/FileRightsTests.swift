import CPiconetSystem
import Foundation
import Glibc
import Testing

@testable import PiconetFiles

/// A file gets what a program that makes it in its own folder would get: mode, group and access control list.
@Suite("Rights of stored files") struct FileRightsTests {
  private typealias Reception = PartialReception

  /// How a file comes.
  enum Way: CaseIterable {
    case unnamed, hidden, kept, resumed
  }

  /// Where it goes.
  enum Place: String, CaseIterable {
    case top = "", below = "below", new = "new/deep"
  }

  /// What the folders are like.
  enum Family: CaseIterable {
    /// No lists.
    case plain
    /// The receiving directory's list keeps others out.
    case privateTop
    /// The folder's list keeps others out, that of the receiving directory lets a group in.
    case privateBelow
    /// The folder's list lets a group in.
    case sharedBelow
    /// The folder gives its files to a group.
    case groupBelow
  }

  private static let group: gid_t = 54_321
  static let canChangeGroups = geteuid() == 0

  /// A default list (acl(5)): for the owner, the group, another group if there is one, and others.
  private static func list(owner: UInt8, group: UInt8, other: UInt8, shared: UInt8? = nil) -> [UInt8] {
    func entry(_ tag: UInt8, _ rights: UInt8, _ id: UInt32 = .max) -> [UInt8] {
      [tag, 0, rights, 0] + withUnsafeBytes(of: id.littleEndian) { Array($0) }
    }
    let named = shared.map { entry(8, $0, UInt32(Self.group)) } ?? []
    let mask = shared.map { entry(16, $0 | group) } ?? []
    return [2, 0, 0, 0] + entry(1, owner) + entry(4, group) + named + mask + entry(32, other)
  }

  private static func setDefault(_ list: [UInt8], of path: String) throws {
    try #require(setxattr(path, "system.posix_acl_default", list, list.count, 0) == 0, "\(path): \(errno)")
  }

  private static let isPrivate = list(owner: 6, group: 0, other: 0)
  private static let isShared = list(owner: 7, group: 5, other: 5, shared: 7)

  private static func prepare(_ folder: TemporaryDirectory, _ family: Family) throws -> String {
    let top = try folder.folder("in")
    let below = try folder.folder("in/below")
    switch family {
    case .plain: break
    case .privateTop: try setDefault(isPrivate, of: top)
    case .privateBelow:
      try setDefault(isShared, of: top)
      try setDefault(isPrivate, of: below)
    case .sharedBelow: try setDefault(isShared, of: below)
    case .groupBelow:
      try #require(chown(below, uid_t.max, group) == 0)
      chmod(below, 0o2775)
    }
    return top
  }

  private func rights(_ path: String) throws -> FileRights {
    let file = open(path, O_RDONLY)
    try #require(file >= 0)
    defer { close(file) }
    return try #require(FileRights(of: file))
  }

  /// What a program gets that makes a file there.
  private func ordinary(_ folder: String) throws -> FileRights {
    let file = open(folder + "/ordinary", O_CREAT | O_EXCL | O_WRONLY, 0o666)
    try #require(file >= 0)
    defer { close(file) }
    return try #require(FileRights(of: file))
  }

  private func receive(_ way: Way, _ place: Place, in path: String, policy: ConflictPolicy = .rename) throws {
    let directory = try IncomingDirectory(path: path, settings: .test(unnamed: way != .hidden))
    func open() throws -> IncomingFile {
      try IncomingFile(
        in: directory, folder: SafeFolder(bytes: Array(place.rawValue.utf8)), name: name("film"),
        offeredSize: UInt64(Reception.whole.count), policy: policy,
        resuming: way == .kept || way == .resumed ? Reception.key() : nil)
    }
    if way == .resumed {
      let first = try open()
      try first.write(Array(Reception.whole[..<(2 * Reception.block)]))
      first.keep()
    }
    let file = try open()
    #expect(file.resumedSize == (way == .resumed ? UInt64(2 * Reception.block) : 0))
    try file.write(Array(Reception.whole[Int(file.resumedSize)...]))
    for entry in try entries(path) where entry.hasPrefix(".") {
      // No other user may read what is not verified yet.
      #expect(try status(path + "/" + entry).st_mode & 0o077 == 0, "\(entry)")
    }
    #expect(try file.commit(expectedDigest: Reception.sum).stored != nil)
  }

  @Test(
    "are those of any new file in its folder, however it came",
    arguments: Way.allCases, Family.allCases.filter { $0 != .groupBelow || canChangeGroups })
  func asOfAny(way: Way, family: Family) throws {
    for place in Place.allCases {
      let folder = try TemporaryDirectory()
      let path = try Self.prepare(folder, family)
      try receive(way, place, in: path)
      let target = place == .top ? path : "\(path)/\(place.rawValue)"
      #expect(try rights(target + "/film") == ordinary(target), "\(place)")
      #expect(try entries(target).filter { $0.hasPrefix(".") } == [])
      #expect(try entries(path).filter { $0.hasPrefix(".") } == [])
      #expect(try content(target + "/film") == Reception.whole)
    }
  }

  @Test(
    "a group that this process is not in still gets its files",
    .enabled(if: canChangeGroups, "needs root"), arguments: Way.allCases)
  func otherGroup(way: Way) throws {
    let folder = try TemporaryDirectory()
    let path = try Self.prepare(folder, .groupBelow)
    for writable in [path, path + "/below"] { chmod(writable, 0o2777) }
    chmod(path, 0o777)
    try asOtherUser {
      try receive(way, .below, in: path)
      let (found, expected) = (try rights(path + "/below/film"), try ordinary(path + "/below"))
      // A file system without unnamed files has no file of that group to copy into. Then no user has more rights than
      // expected.
      if way == .hidden {
        #expect(found.mode & ~expected.mode == 0 && found.mode & 0o070 == (found.mode & 0o007) << 3)
      } else {
        #expect(found == expected)
      }
      #expect(try content(path + "/below/film") == Reception.whole)
    }
  }

  @Test("a file that is replaced keeps its rights, as when a program writes into it", arguments: Way.allCases)
  func replaced(way: Way) throws {
    for mode: mode_t in [0o600, 0o640, 0o666, 0o444] {
      let folder = try TemporaryDirectory()
      let path = try Self.prepare(folder, .plain)
      try folder.file("in/below/film", [1])
      chmod(path + "/below/film", mode)
      let before = try rights(path + "/below/film")
      try receive(way, .below, in: path, policy: .overwrite)
      #expect(try rights(path + "/below/film") == before)
      #expect(try content(path + "/below/film") == Reception.whole)
    }
  }

  @Test("a kept file whose owner died with its final rights is its owner's alone again")
  func diedLate() throws {
    let reception = try Reception()
    try reception.die(after: 2 * Reception.block)
    chmod(try reception.part, 0o666)
    let file = try reception.open()
    #expect(file.resumedSize == UInt64(2 * Reception.block))
    #expect(try status(reception.part).st_mode & 0o777 == 0o600)
    file.discard()
  }
}
