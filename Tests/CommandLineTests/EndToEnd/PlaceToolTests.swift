import CPiconetSystem
import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("Photos whose paths meet on the receiver's disk")
struct PlaceToolTests {
  private static let paths = [
    "DCIM/x.jpg", "dcim/x.jpg", "dcim/X.JPG", "Sub/x.jpg", "Sub (2)/x.jpg", "\u{E9}/x.jpg", "e\u{301}/x.jpg",
    "a:b/x.jpg",
    "a?b/x.jpg", "long/\(String(repeating: "x", count: 249))1.jpg", "long/\(String(repeating: "x", count: 249))2.jpg",
  ]

  private func write(_ text: String, _ path: String) throws {
    try FileManager.default.createDirectory(
      atPath: URL(filePath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
    try Data([0xFF, 0xD8, 0xFF, 0xE0] + Array(text.utf8)).write(to: URL(filePath: path))
  }

  private func texts(below path: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: path).filter { $0.lowercased().hasSuffix(".jpg") }.map {
      String(decoding: try bytes("\(path)/\($0)").dropFirst(4), as: UTF8.self)
    }
  }

  /// What a small file has on the disk: the kernel may remember another state of it.
  private func bytes(_ path: String) throws -> [UInt8] {
    piconet_refresh_status(AT_FDCWD, path)
    let file = open(path, O_RDONLY)
    try #require(file >= 0, "\(path)")
    defer { close(file) }
    _ = posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = read(file, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }

  @Test(
    "all are there, or the exit status says that one is not",
    .enabled(if: !MountedDisk.available.isEmpty, "no disk can be mounted here"),
    arguments: MountedDisk.available, ["rename", "skip", "overwrite"])
  func meeting(kind: String, policy: String) async throws {
    let disk = try MountedDisk(kind)
    try await ToolScene.run { scene in
      let from = scene.folder.path + "/from"
      for (number, path) in Self.paths.enumerated() { try write("sent \(number)", "\(from)/\(path)") }
      let folders = Set(Self.paths.compactMap { $0.split(separator: "/").first.map { Array($0.utf8) } })
        .map { "\(from)/\(String(decoding: $0, as: UTF8.self))" }.sorted()
      try write("old", disk.path("DCIM/x.jpg"))
      try Data([1]).write(to: URL(filePath: disk.path("Sub")))
      let receiver = try await scene.receiver("--on-conflict", policy, into: disk.path)
      for round in 1...2 {
        let sender = try scene.start("imagesend", ["--json", "--to", "Kitchen"] + folders, state: "sender")
        let status = await sender.end()
        let stored = sender.events("stored").count + sender.events("present").count
        let there = Set(try texts(below: disk.path)).filter { $0.hasPrefix("sent ") }
        #expect(there.count >= stored, "\(round): \(there.sorted()), \(sender.error)")
        #expect(status == (stored == Self.paths.count ? 0 : 6), "\(round): \(sender.error)")
        if policy != "skip" { #expect(stored == Self.paths.count, "\(round): \(sender.error)") }
        if round == 2, policy != "skip" { #expect(sender.events("stored").isEmpty, "\(sender.error)") }
      }
      if policy != "overwrite" { #expect(try texts(below: disk.path).contains("old")) }
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() == 143, "\(receiver.error)")
    }
  }
}
