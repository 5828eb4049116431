import Foundation
import Testing

@Suite("A standard output that takes nothing")
struct StandardOutputTests {
  /// Runs a command line of a shell with imagesend as `$0`; gives the exit status and what stood on standard error.
  private func run(_ words: String) throws -> (status: Int32, error: String) {
    let folder = try TemporaryFolder()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", words, ToolProcess.path(of: "imagesend")]
    process.environment = [
      "PICONET_INTERFACES": "lo", "XDG_STATE_HOME": folder.path, "HOME": folder.path,
      "PATH": "/usr/bin:/bin",
    ]
    let pipe = Pipe()
    process.standardError = pipe
    try process.run()
    let error = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, error)
  }

  @Test("a full one ends with 6 and says why")
  func full() throws {
    let (status, error) = try run("\"$0\" --json /nonexistent.jpg >/dev/full")
    #expect(status == 6)
    #expect(error.contains("standard output: No space left on device"), "\(error)")
  }

  @Test("a closed one ends with 6 and says why, and its number is nobody else's")
  func closed() throws {
    let (status, error) = try run("\"$0\" --json /nonexistent.jpg <&- >&-")
    #expect(status == 6)
    #expect(error.contains("standard output: Bad file descriptor"), "\(error)")
  }
}
