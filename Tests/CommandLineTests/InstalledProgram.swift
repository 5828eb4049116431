import Foundation
import TestSupport

/// A program of this machine whose opinion a test asks for: a shell, groff.
struct InstalledProgram: Sendable {
  let path: String

  /// Finds the program; nil if it is not installed.
  init?(_ name: String) {
    let folders = ["/usr/bin", "/bin", "/usr/local/bin"]
    guard let folder = folders.first(where: { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }) else {
      return nil
    }
    path = "\(folder)/\(name)"
  }

  init(path: String) { self.path = path }

  /// Runs it to its end; its last argument is a file with `input`.
  func run(_ arguments: [String], file input: String) throws -> (status: Int32, output: String, error: String) {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let file = try folder.write("in", Array(input.utf8))
    let (output, error) = (try folder.write("out", []), try folder.write("err", []))
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments + [file]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
    process.standardError = try FileHandle(forWritingTo: URL(filePath: error))
    try process.run()
    process.waitUntilExit()
    func text(_ path: String) throws -> String { String(decoding: try TemporaryFolder.bytes(path), as: UTF8.self) }
    return (process.terminationStatus, try text(output), try text(error))
  }
}
