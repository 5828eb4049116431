import Foundation
import Testing

/// A package that depends on this one, built in a folder of its own: a minute or two.
@Suite("Another package uses this one")
struct DependantTests {
  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  static let package = Repository.root + "/Tests/Dependant"

  /// Runs a program to its end, at most so many seconds, and gives what it wrote.
  static func run(_ arguments: [String], seconds: Int, in folder: URL) async throws -> String {
    let output = folder.appending(path: UUID().uuidString)
    _ = FileManager.default.createFile(atPath: output.path, contents: nil)
    let handle = try FileHandle(forWritingTo: output)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/timeout")
    process.arguments = ["-k", "5", "\(seconds)"] + arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = handle
    process.standardError = handle
    // Not waitUntilExit: that would keep a thread from other tests for as long as a build takes.
    let status = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    let text = try String(contentsOf: output, encoding: .utf8)
    guard status == 0 else { throw Failed(description: "exit status \(status):\n\(text)") }
    return text
  }

  @Test("the README's program builds against this checkout and two of it greet each other over loopback")
  func programOfTheReadme() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "piconet-dependant-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let build = folder.appending(path: "build").path
    // With only some test targets the manifest has no products.
    let swift = [
      "/usr/bin/env", "-u", "PICONET_TESTS", "swift", "build", "--package-path", Self.package, "--scratch-path", build,
    ]
    _ = try await Self.run(swift, seconds: 900, in: folder)
    let program = build + "/debug/hello"
    async let heard = Self.run([program, "wait"], seconds: 30, in: folder)
    _ = try await Self.run([program], seconds: 30, in: folder)
    #expect(try await heard == "Hello, Waiter.\n")
  }
}
