import Foundation
import TestSupport
import Testing

@Suite("A standard output that takes nothing")
struct StandardOutputTests {
  /// Runs a shell's command line with imagesend as `$0` and piconet as `$1`; gives the exit status and what was written
  /// to standard error.
  private func run(_ words: String) throws -> (status: Int32, error: String) {
    let folder = try TemporaryFolder()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", words, ToolProcess.path(of: "imagesend"), ToolProcess.path(of: "piconet")]
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

  @Test(
    "a full one ends every command with 6 and says why",
    arguments: ["\"$0\" --help", "\"$0\" --version", "\"$1\" --help", "\"$1\" doctor", "\"$1\" scan --help"])
  func fullForAll(words: String) throws {
    let (status, error) = try run("\(words) >/dev/full")
    #expect(status == 6)
    #expect(error.contains("standard output: No space left on device"), "\(error)")
  }

  @Test("imagesend with a closed standard output ends with 6 and says why, and gives the number to no other file")
  func closed() throws {
    let (status, error) = try run("\"$0\" --json /nonexistent.jpg <&- >&-")
    #expect(status == 6)
    #expect(error.contains("standard output: Bad file descriptor"), "\(error)")
  }

  @Test("standard error says the same with --json as without, on both sides")
  func standardErrorIsTheSame() async throws {
    try await ToolScene.run { scene in
      var said: [[String]] = []
      for (number, isJSON) in [false, true].enumerated() {
        let receiver = try await scene.receiver("--count", "1", json: isJSON)
        let sender = try scene.start(
          "imagesend",
          (isJSON ? ["--json"] : []) + ["--to", "Kitchen", try scene.photo("\(number).jpg"), "/nonexistent"],
          state: "sender")
        #expect(await sender.end() == 6, "\(sender.error)")
        #expect(await receiver.end() == 0, "\(receiver.error)")
        // What is shown for each connection; and what is said only where something takes a while.
        said.append(
          [receiver.error, sender.error].map { text in
            text.replacing(/127\.0\.0\.1:\d+/, with: "ADDRESS").replacing(/code \d+ \d+/, with: "CODE")
              .replacing(/\ in (less than )?[0-9.:]+( s)?/, with: " in TIME").replacing(/, \d+ .?B\/s/, with: "")
              .replacing(/(Looking for|Connecting to|Waiting for) .*\.\.\.\n/, with: "")
          })
      }
      #expect(said[0] == said[1])
      #expect(said[0][0].hasPrefix("Receiving as 'Kitchen' into "))
    }
  }
}
