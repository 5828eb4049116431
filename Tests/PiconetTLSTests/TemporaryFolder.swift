import Foundation

@testable import PiconetTLS

/// A folder for one test, which is removed with it.
final class TemporaryFolder {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("piconet-tls-\(UUID().uuidString)").path

  init() throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var directory: StateDirectory { StateDirectory(path: "\(path)/piconet") }

  func setMode(_ mode: Int, of path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  func mode(of path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? -1
  }

  func write(_ text: String, to name: String, mode: Int = 0o600) throws {
    let path = directory.file(name)
    try? FileManager.default.createDirectory(
      atPath: directory.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try setMode(mode, of: path)
  }

  func read(_ name: String) throws -> String { try String(contentsOfFile: directory.file(name), encoding: .utf8) }

  var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()) ?? [] }
}
