import Foundation
import Glibc
import Testing

/// A folder on one of the virtual machine's disks, which is removed with it: see Tools/BluetoothVM/disks.
package final class Card: Sendable {
  /// The disks by the names of their folders, such as "vfat".
  package static let all = (ProcessInfo.processInfo.environment["PICONET_DISKS"] ?? "").split(separator: ",")
    .map { URL(filePath: String($0)).lastPathComponent }

  package let path: String

  package init(_ kind: String) throws {
    path = "/run/piconet-disks/\(kind)/\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  package func path(_ name: String) -> String { path + "/" + name }

  /// All names in it, hidden ones too, in order, except those that FUSE gives for a moment to open files that have lost
  /// theirs.
  package func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasPrefix(".fuse_hidden") }.sorted()
  }

  /// Makes the kernel forget what it knows of the disk's files, as when a card is pulled out and put in again.
  package func forget() throws {
    sync()
    let file = try #require(fopen("/proc/sys/vm/drop_caches", "w"))
    fputs("3", file)
    #expect(fclose(file) == 0)
  }

  /// Fills all but so many bytes with a large file.
  package func fill(allBut rest: UInt64) throws {
    let block = [UInt8](repeating: 0x55, count: 1 << 20)
    let file = open(path("filler"), O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
    try #require(file >= 0)
    defer { close(file) }
    while true {
      var status = statvfs()
      try #require(fstatvfs(file, &status) == 0)
      let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
      if free <= rest { return }
      let count = Int(min(UInt64(block.count), free - rest))
      if write(file, block, count) < 0 { return }
    }
  }
}
