import Foundation
import Testing

/// A package that depends on this one, built in a folder of its own: a minute or two.
@Suite(
  "Another package uses this one",
  .enabled(
    if: ProcessInfo.processInfo.environment["PICONET_TEST_DEPENDANT"] == "1",
    "it takes a minute or two; Tools/test without arguments runs it, as does PICONET_TEST_DEPENDANT=1"))
struct DependantTests {
  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  static let package = Repository.root + "/Tests/Dependant"

  /// A program that runs with its output in a file, and is ended at the latest with this value.
  final class Program {
    private let process = Process()
    private let output: URL

    init(_ arguments: [String], in folder: URL) throws {
      output = folder.appending(path: UUID().uuidString)
      _ = FileManager.default.createFile(atPath: output.path, contents: nil)
      let handle = try FileHandle(forWritingTo: output)
      process.executableURL = URL(filePath: "/usr/bin/timeout")
      process.arguments = ["-k", "5"] + arguments
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = handle
      process.standardError = handle
      try process.run()
    }

    deinit { if process.isRunning { process.terminate() } }

    func output() throws -> String {
      process.waitUntilExit()
      let text = try String(contentsOf: output, encoding: .utf8)
      guard process.terminationStatus == 0 else {
        throw Failed(description: "exit status \(process.terminationStatus):\n\(text)")
      }
      return text
    }
  }

  @Test("the README's program builds against this checkout and two of it greet each other over loopback")
  func programOfTheReadme() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "piconet-dependant-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let build = folder.appending(path: "build").path
    let swift = ["/usr/bin/env", "swift", "build", "--package-path", Self.package, "--scratch-path", build]
    _ = try Program(["900"] + swift, in: folder).output()
    let program = build + "/debug/hello"
    let waiter = try Program(["30", program, "wait"], in: folder)
    let greeter = try Program(["30", program], in: folder)
    _ = try greeter.output()
    #expect(try waiter.output() == "Hello, Waiter.\n")
  }
}
