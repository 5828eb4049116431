import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

private var hasLandlock: Bool { if case .usable = LandlockSupport.current { true } else { false } }

@Suite("A program that may only compute", .enabled(if: hasLandlock, "the kernel has no Landlock"))
struct ConfinedProcessTests {
  private func process(_ script: String, time: Duration = .seconds(60)) -> ConfinedProcess {
    ConfinedProcess(
      words: ["/usr/bin/perl", "-e", script],
      readable: [
        "/usr/bin", "/usr/lib", "/lib", "/lib64", "/usr/share/perl", "/etc/ld.so.cache", "/dev/null",
        "/nonexistent",
      ],
      variables: ["LC_ALL=C"], time: time)
  }

  private func run(_ process: ConfinedProcess, limit: Int = 4_096) async throws -> ConfinedProcess.Outcome {
    let folder = try TemporaryFolder()
    try folder.write("input", Array("content".utf8))
    let input = try #require(FileHandle(forReadingAtPath: folder.path + "/input"))
    return await process.run(input: input.fileDescriptor, output: .collected(atMost: limit))
  }

  @Test("reads its input, also anew, and can open, change, send and start nothing else")
  func confined() async throws {
    let folder = try TemporaryFolder()
    try folder.write("other", Array("x".utf8))
    let other = folder.path + "/other"
    let script = """
      use Socket; $| = 1;
      sub say_it { print "$_[0] ", ($_[1] ? "yes" : "no"), "\\n" }
      say_it("input", <STDIN> eq "content");
      say_it("again", open(F, "<", "/proc/self/fd/0") && <F> eq "content");
      say_it("overwritten", open(F, "+<", "/proc/self/fd/0"));
      say_it("read", open(F, "<", "\(other)"));
      say_it("listed", opendir(D, "\(folder.path)"));
      say_it("written", open(F, ">", "\(other)"));
      say_it("made", open(F, ">", "\(folder.path)/new"));
      say_it("removed", unlink("\(other)"));
      say_it("moved", rename("\(other)", "\(folder.path)/moved"));
      say_it("mode", chmod(0777, "\(other)"));
      say_it("times", utime(1, 1, "\(other)"));
      say_it("truncated", truncate("\(other)", 0));
      for ([AF_INET, SOCK_STREAM], [AF_INET, SOCK_DGRAM], [AF_UNIX, SOCK_STREAM]) {
        say_it("socket", socket(S, $_->[0], $_->[1], 0));
      }
      say_it("forked", defined(my $child = fork));
      say_it("signal", kill(0, getppid));
      say_it("terminal", open(F, "<", "/dev/tty"));
      say_it("environment", keys(%ENV) > 1);
      say_it("became", exec("/bin/cat", "\(other)"));
      """
    let outcome = try await run(process(script))
    guard case .ended(let status, let output, let errors) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    #expect(lines.filter { $0.hasSuffix(" yes") } == ["input yes", "again yes"])
    #expect(lines.count == 20, "\(lines)")
    #expect(status == 0, "\(String(decoding: errors, as: UTF8.self))")
    #expect(try TemporaryFolder.bytes(other) == Array("x".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["other"])
  }

  @Test("is ended when it takes too long, waits for ever, writes or needs too much, or is not wanted any more")
  func limits() async throws {
    #expect(try await run(process("1 while 1", time: .seconds(1))) == .tookTooLong)
    #expect(try await run(process("sleep 1000", time: .seconds(1))) == .tookTooLong)
    // A program that closes its output, and only waits, ends at the time limit, too.
    #expect(try await run(process("close STDOUT; close STDERR; sleep 1000", time: .seconds(1))) == .tookTooLong)
    #expect(try await run(process("print 'x' x 1000 while 1")) == .wroteTooMuch)
    #expect(
      try await run(process("print 'x' x 4096"))
        == .ended(status: 0, output: Array(repeating: 0x78, count: 4_096), errors: []))
    guard case .ended(let status, _, let errors) = try await run(process("$x = 'x' x (2 << 30)")) else {
      Issue.record("it had 2 GiB")
      return
    }
    #expect(status != 0 && String(decoding: errors, as: UTF8.self).contains("Out of memory"))
    #expect(
      try await run(process("kill 11, $$; sleep 1")) == .ended(status: 0, output: [], errors: []), "not even itself")
    let task = Task { try await run(process("sleep 1000", time: .seconds(1_000))) }
    task.cancel()
    #expect(try await task.value == .cancelled)
  }

  @Test("does not start without what it needs, and says why; what it writes to a file has a limit")
  func failures() async throws {
    var missing = process("")
    missing = ConfinedProcess(words: ["/nonexistent/x"], readable: missing.readable, variables: [], time: .seconds(5))
    #expect(try await run(missing) == .failed("No such file or directory"))
    let unreadable = ConfinedProcess(words: ["/usr/bin/perl"], readable: [], variables: [], time: .seconds(5))
    // In a root directory of its own it is not even there.
    let outcome = try await run(unreadable)
    #expect([.failed("Permission denied"), .failed("No such file or directory")].contains(outcome), "\(outcome)")
    let folder = try TemporaryFolder()
    try folder.write("output", [])
    let output = try #require(FileHandle(forWritingAtPath: folder.path + "/output"))
    var writer = process("print 'x' x 1000 while 1")
    writer.writtenLimit = 10_000
    let null = try #require(FileHandle(forReadingAtPath: folder.path + "/output"))
    #expect(await writer.run(input: null.fileDescriptor, output: .file(output.fileDescriptor)) == .wroteTooMuch)
    #expect(try TemporaryFolder.bytes(folder.path + "/output").count == 10_000)
  }
}
