import Foundation
import Testing

/// Tools/test runs tests in virtual machines; what it does with their results is shown by tests beside it, in Python.
@Suite("Tools/test")
struct TestRunTests {
  @Test(
    "a machine that broke is booted once more, a failed test has no second try, programs are waited for, steps are shown",
    arguments: ["test_broken_machine", "test_build_times", "test_programs", "test_progress", "test_unended_run"])
  func tests(name: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-B", Repository.root + "/Tools/TestRun/\(name).py"]
    let pipe = Pipe()
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let told = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(told)")
    #expect(told.contains(/Ran [1-9]\d* tests/), "\(told)")
  }
}
