import Foundation
import Testing

@testable import PiconetCommandLine
@testable import PiconetTerminal

@Suite("Writing to standard output")
struct StandardStreamTests {
  @Test("a long text arrives whole through a full non-blocking pipe")
  func whole() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let (reader, writer) = (ends[0], ends[1])
    #expect(fcntl(writer, F_SETFL, O_NONBLOCK) == 0)
    let text = String(repeating: "0123456789é\n", count: 100_000)
    let thread = Thread {
      var stream = StandardStream(descriptor: writer)
      stream.write(text)
      close(writer)
    }
    thread.start()
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(reader, &buffer, buffer.count), count > 0 { received += buffer.prefix(count) }
    close(reader)
    #expect(received == Array(text.utf8))
  }

  @Test("a reader that has gone ends the output quietly and leaves the exit code to the files")
  func readerGone() {
    StandardStream.ignoreBrokenPipes()
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    close(ends[0])
    var stream = StandardStream(descriptor: ends[1])
    stream.write("x")
    #expect(stream.failure == .readerGone)
    stream.write("y")
    #expect(stream.exitCode(after: .stored) == .stored)
    #expect(stream.exitCode(after: .refused) == .refused)
    close(ends[1])
  }

  @Test("a full disk is a failure", .enabled(if: access("/dev/full", W_OK) == 0, "needs /dev/full"))
  func fullDisk() {
    let descriptor = open("/dev/full", O_WRONLY)
    var stream = StandardStream(descriptor: descriptor)
    stream.write("x")
    #expect(stream.failure == .system(ENOSPC))
    #expect(stream.exitCode(after: .stored) == .localFile)
    #expect(stream.exitCode(after: .identity) == .identity)
    close(descriptor)
  }

  @Test("nothing is written for an empty text")
  func empty() {
    var stream = StandardStream(descriptor: -1)
    stream.write("")
    #expect(stream.failure == nil)
  }

  @Test("in a pipe the status line stays silent")
  func statusLine() {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    var line = StatusLines(output: StandardStream(descriptor: ends[1]))
    line.draw([ProgressBar(name: "a", done: 1, total: 2)], at: .now)
    line.say("done")
    close(ends[1])
    var buffer = [UInt8](repeating: 0, count: 100)
    let count = read(ends[0], &buffer, buffer.count)
    #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "done\n")
    close(ends[0])
  }
}
