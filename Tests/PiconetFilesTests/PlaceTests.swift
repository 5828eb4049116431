import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetFiles

/// A table: disks, ways that two paths of a sender meet on them, policies. Nothing that was told as stored is lost, and
/// each file has the rights that any program's would have there.
@Suite("Places: disks, paths that meet, policies") struct PlaceTests {
  @Test(
    "nothing is lost, and rights are those of any new file",
    .enabled(if: !MountedDisk.available.isEmpty, "no disk can be mounted here"),
    arguments: MountedDisk.available, ConflictPolicy.allCases)
  func onDisk(kind: String, policy: ConflictPolicy) throws {
    for way in MeetingPaths.all {
      let disk = try MountedDisk(kind)
      try PlaceRun(disk.path, policy, way).check()
    }
  }

  @Test(
    "a file whose name the kernel remembers in another spelling is not replaced",
    .enabled(if: !MountedDisk.available.isEmpty, "no disk can be mounted here"), arguments: MountedDisk.available)
  func rememberedSpelling(kind: String) throws {
    let disk = try MountedDisk(kind)
    let spellings = ["DCIM/x.jpg", "dcim/X.JPG", "dcim/x.jpg"]
    try FileManager.default.createDirectory(atPath: disk.path("DCIM"), withIntermediateDirectories: false)
    try Data([0xEE]).write(to: URL(filePath: disk.path("DCIM/x.jpg")))
    let directory = try IncomingDirectory(path: disk.path, settings: .test())
    let files = UsedFiles()
    for (number, spelling) in spellings.enumerated() {
      for spelling in spellings { _ = access(disk.path(spelling), F_OK) }
      _ = try receiveFile(
        spelling, Array(repeating: UInt8(number), count: 2 + number), in: directory, policy: .overwrite, files)
    }
    let names = try FileManager.default.subpathsOfDirectory(atPath: disk.path)
    #expect(names.filter { $0.lowercased().hasSuffix(".jpg") }.count == 3, "\(names)")
  }

  @Test("on cards", .machine("--adapters 0 --no-daemon --disks"), arguments: Card.all, ConflictPolicy.allCases)
  func onCard(kind: String, policy: ConflictPolicy) throws {
    for way in MeetingPaths.all {
      let card = try Card(kind)
      try PlaceRun(card.path, policy, way).check()
    }
  }
}

/// Stores a file under a path of the sender.
private func receiveFile(
  _ text: String, _ bytes: [UInt8], in directory: IncomingDirectory, policy: ConflictPolicy, _ files: UsedFiles
) throws -> IncomingOutcome {
  let parts = text.split(separator: "/").map(String.init)
  let file = try IncomingFile(
    in: directory, folder: SafeFolder(bytes: Array(parts.dropLast().joined(separator: "/").utf8)),
    name: name(try #require(parts.last)), offeredSize: UInt64(bytes.count), policy: policy, of: files)
  try file.write(bytes)
  return try file.commit(expectedDigest: digest(bytes))
}

/// One entry of the table.
private struct PlaceRun {
  private let path: String
  private let policy: ConflictPolicy
  private let way: MeetingPaths

  init(_ path: String, _ policy: ConflictPolicy, _ way: MeetingPaths) {
    (self.path, self.policy, self.way) = (path, policy, way)
  }

  func check() throws {
    try checkOnce("empty", before: way.before, sameSize: true)
    // Something has the names already, so that they may be replaced.
    try checkOnce("taken", before: way.before + way.offered, sameSize: false)
    try checkOnce("taken, same size", before: way.before + way.offered, sameSize: true)
  }

  private func checkOnce(_ state: String, before: [String], sameSize: Bool) throws {
    let label: Comment = "\(way), \(policy.rawValue), \(state)"
    let top = "\(path)/\(state)"
    try FileManager.default.createDirectory(atPath: top, withIntermediateDirectories: false)
    let before = before.filter { prepare(top + "/" + $0) }
    let directory = try IncomingDirectory(path: top, settings: .test())
    for run in 1...2 {
      let files = UsedFiles()
      // No dictionary: to one, two spellings of a letter are one path.
      var stored: [(path: String, bytes: [UInt8])] = []
      for (number, text) in way.offered.enumerated() {
        let bytes = Array(repeating: UInt8(number + 1), count: sameSize ? 4 : 4 + number)
        let ruled = try rights(ofReplaced: text, in: top)
        do {
          switch try receiveFile(text, bytes, in: directory, policy: policy, files) {
          case .stored(let file):
            stored.append((file.path, bytes))
            #expect(run == 1 || policy == .skip, label)
            let isOrdinary = try rights(file.path) == ordinary(in: file.path)
            #expect(try isOrdinary || rights(file.path) == ruled, label)
          case .present(let file): stored.append((file.path, bytes))
          case .skipped: #expect(policy == .skip, label)
          }
        } catch let failure as FileFailure {
          // Said to the sender, which offers it by another name.
          guard case .nameRefused = failure.code else { throw failure }
        }
      }
      for (path, bytes) in stored { #expect(try content(path) == bytes, label) }
      // Two files of the sender are two files.
      #expect(Set(stored.map { Array($0.path.utf8) }).count == stored.count, label)
      if policy != .overwrite {
        for text in before { #expect(FileManager.default.fileExists(atPath: top + "/" + text), label) }
      }
      let names = try FileManager.default.subpathsOfDirectory(atPath: top)
      let hidden = names.filter { $0.split(separator: "/").last?.hasPrefix(".piconet") == true }
      #expect(hidden.isEmpty, label)
    }
  }

  /// - Returns: false where the disk does not take the name, or a file has that of the folder.
  private func prepare(_ path: String) -> Bool {
    let folder = URL(filePath: path).deletingLastPathComponent().path
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0o644)
    guard file >= 0 else { return false }
    defer { close(file) }
    return write(file, [0xEE, 0xEE, 0xEE, 0xEE] as [UInt8], 4) == 4
  }

  private func rights(_ path: String) throws -> FileRights {
    let file = open(path, O_RDONLY)
    try #require(file >= 0, "\(path)")
    defer { close(file) }
    return try #require(FileRights(of: file))
  }

  private func rights(ofReplaced text: String, in top: String) throws -> FileRights? {
    access(top + "/" + text, F_OK) == 0 ? try rights(top + "/" + text) : nil
  }

  /// Those that a program gets that makes a file beside.
  private func ordinary(in path: String) throws -> FileRights {
    let beside = URL(filePath: path).deletingLastPathComponent().path + "/ordinary"
    let file = open(beside, O_CREAT | O_EXCL | O_WRONLY, 0o666)
    try #require(file >= 0, "\(beside)")
    defer {
      close(file)
      unlink(beside)
    }
    return try #require(FileRights(of: file))
  }
}
