import Foundation
import Testing

/// Set for the process that a test has for itself.
private let variable = "PICONET_OWN_PROCESS"

/// Runs the rest of a test in a process of its own, where no other test opens, closes or allocates anything, and no
/// failure of it ends them.
///
/// The process runs this test alone, of this bundle. Unlike exit tests it holds none of the few threads that tasks
/// share, however long it takes, and what it has said is shown if it fails.
package func inOwnProcess(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async throws {
  if ProcessInfo.processInfo.environment[variable] != nil { return try await body() }
  let id = try #require(Test.current.map { "\($0.id)" }, sourceLocation: sourceLocation)
  let log = FileManager.default.temporaryDirectory.appending(path: "piconet-own-process-\(UUID().uuidString)")
  try Data().write(to: log)
  defer { try? FileManager.default.removeItem(at: log) }
  let handle = try FileHandle(forWritingTo: log)
  let process = Process()
  process.executableURL = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
  // Up to its source location, which is no part of a test's name.
  let name = id.prefix { $0 != ")" } + ")"
  process.arguments = [
    "--testing-library", "swift-testing", "--filter", "^" + NSRegularExpression.escapedPattern(for: String(name)),
  ]
  process.environment = ProcessInfo.processInfo.environment.merging([variable: "1"]) { _, new in new }
  process.standardInput = FileHandle.nullDevice
  process.standardOutput = handle
  process.standardError = handle
  let status = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
    process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
    do { try process.run() } catch { continuation.resume(throwing: error) }
  }
  try handle.close()
  let said = String(decoding: try Data(contentsOf: log), as: UTF8.self)
  // One that found no test would pass as well.
  if status != 0 || !said.contains("with 1 test") {
    Issue.record("exit status \(status): \(said.suffix(3_000))", sourceLocation: sourceLocation)
  }
}
