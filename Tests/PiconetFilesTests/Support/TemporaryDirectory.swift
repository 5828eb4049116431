import Foundation
import Glibc
import Testing

/// A folder for one test, which is removed with it. Other users may enter it, so that a test can act as one.
final class TemporaryDirectory: Sendable {
  let path: String

  /// - Parameter inMemory: for tests with thousands of files, each of whose commits would wait for a disk.
  init(inMemory: Bool = false) throws {
    let parent = inMemory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NSTemporaryDirectory()
    path = URL(fileURLWithPath: parent).appendingPathComponent("piconet-files-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    chmod(path, 0o755)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func path(_ name: String) -> String { path + "/" + name }

  /// Makes a folder in it with these permissions.
  func folder(_ name: String, mode: mode_t = 0o755) throws -> String {
    try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
    chmod(path(name), mode)
    return path(name)
  }

  @discardableResult
  func file(_ name: String, _ content: [UInt8] = []) throws -> String {
    try Data(content).write(to: URL(fileURLWithPath: path(name)))
    return path(name)
  }
}

/// All names in a folder, hidden ones too, in order.
func entries(_ path: String) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: path).sorted()
}

func content(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

func status(_ path: String) throws -> stat {
  var status = stat()
  try #require(lstat(path, &status) == 0)
  return status
}
