import Foundation
import Glibc
import Testing

@testable import PiconetFiles

@Suite struct HostileDirectoryTests {
  @Test("a link under the final name leads nothing outside", arguments: [true, false], ConflictPolicy.allCases)
  func linkAsName(unnamed: Bool, policy: ConflictPolicy) throws {
    let folder = try TemporaryDirectory()
    let inbox = try folder.folder("inbox")
    try folder.file("outside", [9])
    symlink("../outside", inbox + "/there.jpg")
    symlink("../new", inbox + "/dangling.jpg")
    let directory = try IncomingDirectory(path: inbox, settings: .test(unnamed: unnamed))
    for text in ["there.jpg", "dangling.jpg"] {
      switch policy {
      case .rename:
        let stored = try receive(text, [1], in: directory).stored
        #expect(stored?.name == (try name(text).numbered(2)))
      case .skip: #expect(try receive(text, [1], in: directory, policy: .skip) == .skipped(name(text)))
      case .overwrite:
        #expect(
          failureCode { try receive(text, [1], in: directory, policy: .overwrite) } == .notRegular(.symbolicLink))
      }
    }
    #expect(try content(folder.path("outside")) == [9])
    #expect(try entries(folder.path) == ["inbox", "outside"])
  }

  @Test("a directory swapped for a link in mid-file: the file lands in the original one", arguments: [true, false])
  func swapped(unnamed: Bool) throws {
    let folder = try TemporaryDirectory()
    let inbox = try folder.folder("inbox")
    let outside = try folder.folder("outside")
    let directory = try IncomingDirectory(path: inbox, settings: .test(unnamed: unnamed))
    let file = try IncomingFile(in: directory, name: name("photo.jpg"), offeredSize: 2, policy: .rename)
    try file.write([1])
    #expect(Glibc.rename(inbox, folder.path("moved")) == 0)
    #expect(symlink("outside", inbox) == 0)
    try file.write([2])
    let stored = try #require(try file.commit(expectedDigest: digest([1, 2])).stored)
    #expect(try entries(outside) == [])
    #expect(try entries(folder.path("moved")) == ["photo.jpg"])
    // The result names the place where the file is, not where it should have been.
    #expect(try content(stored.path) == [1, 2])
    #expect(stored.path.hasSuffix("/moved/photo.jpg"))
  }

  enum Moment: CaseIterable { case start, write, commit }

  @Test("a directory removed at any moment is an error, not a lost file", arguments: [true, false], Moment.allCases)
  func vanished(unnamed: Bool, moment: Moment) throws {
    let folder = try TemporaryDirectory()
    let inbox = try folder.folder("inbox")
    let directory = try IncomingDirectory(path: inbox, settings: .test(unnamed: unnamed))
    if moment == .start {
      try FileManager.default.removeItem(atPath: inbox)
      #expect(
        failureCode { _ = try IncomingFile(in: directory, name: name("a"), offeredSize: 1, policy: .rename) }
          == .directoryVanished)
      #expect(
        failureCode { _ = try directory.conflictOutcome(name: name("a"), size: 1, policy: .rename) }
          == .directoryVanished)
    } else {
      let file = try IncomingFile(in: directory, name: name("a"), offeredSize: 2, policy: .rename)
      try file.write([1])
      if moment == .write { try FileManager.default.removeItem(atPath: inbox) }
      try file.write([2])
      if moment == .commit { try FileManager.default.removeItem(atPath: inbox) }
      #expect(failureCode { _ = try file.commit(expectedDigest: digest([1, 2])) } == .directoryVanished)
    }
    // A new folder under the old path is a different one.
    _ = try folder.folder("inbox")
    #expect(failureCode { try receive("b", [1], in: directory) } == .directoryVanished)
    #expect(try entries(inbox) == [])
  }

  @Test("a hidden partial file that was removed or exchanged is never published")
  func exchangedPartial() throws {
    for exchange in [true, false] {
      let folder = try TemporaryDirectory()
      let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: false))
      let file = try IncomingFile(in: directory, name: name("a"), offeredSize: 1, policy: .rename)
      try file.write([1])
      let partial = try #require(try entries(folder.path).first)
      unlink(folder.path(partial))
      if exchange { symlink("/etc/hostname", folder.path(partial)) }
      #expect(failureCode { _ = try file.commit(expectedDigest: digest([1])) } == .partialFileRemoved)
      #expect(try entries(folder.path) == [])
    }
  }

  @Test("a directory that is missing, a file, or not writable is refused at the start")
  func unusable() throws {
    let folder = try TemporaryDirectory()
    try folder.file("file")
    let locked = try folder.folder("locked", mode: 0o555)
    #expect(failureCode { _ = try IncomingDirectory(path: folder.path("none")) } == .directoryMissing)
    #expect(failureCode { _ = try IncomingDirectory(path: folder.path("file")) } == .notDirectory)
    #expect(failureCode { _ = try asOtherUser { try IncomingDirectory(path: locked) } } == .noPermission)
  }

  @Test("a directory that loses its write permission refuses the next file, and the commit of a hidden one")
  func permissionLost() throws {
    let folder = try TemporaryDirectory()
    let inbox = try folder.folder("inbox", mode: 0o777)
    let (directory, file) = try asOtherUser {
      let directory = try IncomingDirectory(path: inbox, settings: .test(unnamed: false))
      let file = try IncomingFile(in: directory, name: name("a"), offeredSize: 1, policy: .rename)
      try file.write([1])
      return (directory, file)
    }
    chmod(inbox, 0o555)
    asOtherUser {
      #expect(failureCode { _ = try file.commit(expectedDigest: digest([1])) } == .noPermission)
      #expect(
        failureCode { _ = try IncomingFile(in: directory, name: name("b"), offeredSize: 1, policy: .rename) }
          == .noPermission)
    }
    chmod(inbox, 0o777)
  }
}
