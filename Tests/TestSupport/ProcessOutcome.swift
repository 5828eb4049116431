import Foundation

/// How a process has ended, and all that it wrote, in order.
package struct ProcessOutcome: Sendable {
  package var status: Int32
  package var output: String
  package var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// Runs a program to its end, without standard input. No thread waits for it: tasks share few of them.
  /// - Parameter variables: what it finds in its environment besides what this process has.
  package static func of(
    _ program: String, _ arguments: [String], with variables: [String: String] = [:]
  ) async throws -> ProcessOutcome {
    // Into a file, since this function would not empty a pipe meanwhile.
    let output = FileManager.default.temporaryDirectory.appending(path: "piconet-process-\(UUID().uuidString)")
    _ = FileManager.default.createFile(atPath: output.path, contents: nil)
    defer { try? FileManager.default.removeItem(at: output) }
    let handle = try FileHandle(forWritingTo: output)
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(variables) { _, new in new }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = handle
    process.standardError = handle
    let status = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    try handle.close()
    return ProcessOutcome(status: status, output: String(decoding: try Data(contentsOf: output), as: UTF8.self))
  }
}
