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
  // Up to its source location, which is no part of a test's name.
  let name = NSRegularExpression.escapedPattern(for: id.prefix { $0 != ")" } + ")")
  let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
  let outcome = try await ProcessOutcome.of(
    program, ["--testing-library", "swift-testing", "--filter", "^" + name], with: [variable: "1"])
  // A process that found no test would pass as well.
  if outcome.status != 0 || !outcome.output.contains("with 1 test") {
    Issue.record("exit status \(outcome.status): \(outcome.output.suffix(3_000))", sourceLocation: sourceLocation)
  }
}
