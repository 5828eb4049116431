import Foundation
import PiconetRuntime
import Testing

@Suite("The file of a trace", .timeLimit(.minutes(15)))
struct TraceFileTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("piconet-\(UUID().uuidString)")

  private func withFolder(_ body: (URL) throws -> Void) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appendingPathComponent("trace"))
  }

  @Test("appended bytes are in the file when it is closed, in order, for this user alone")
  func appended() throws {
    try withFolder { file in
      let trace = try TraceFile(path: file.path)
      for number in 0..<200 { #expect(trace.append([UInt8](repeating: UInt8(number), count: 1_000))) }
      #expect(trace.close() == nil)
      let bytes = try Data(contentsOf: file)
      #expect(bytes.count == 200_000)
      #expect((0..<200).allSatisfy { bytes[$0 * 1_000 + 500] == UInt8($0) })
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
  }

  @Test("a symbolic link at the path is replaced, not followed")
  func linksAreNotFollowed() throws {
    try withFolder { file in
      let other = folder.appendingPathComponent("other")
      try Data("kept".utf8).write(to: other)
      try FileManager.default.createSymbolicLink(at: file, withDestinationURL: other)
      let trace = try TraceFile(path: file.path)
      #expect(trace.append([1]))
      trace.close()
      #expect(try Data(contentsOf: other) == Data("kept".utf8))
      #expect(try Data(contentsOf: file) == Data([1]))
    }
  }

  @Test("a path that is no file, such as a pipe or a directory, is refused and stays")
  func noFile() throws {
    try withFolder { pipe in
      #expect(mkfifo(pipe.path, 0o600) == 0)
      #expect(throws: SystemError.self) { try TraceFile(path: pipe.path) }
      var status = stat()
      #expect(lstat(pipe.path, &status) == 0)
      #expect(status.st_mode & S_IFMT == S_IFIFO)
    }
    #expect(throws: SystemError.self) { try TraceFile(path: folder.deletingLastPathComponent().path) }
  }

  @Test("more than the disk takes is refused, not kept")
  func bounded() throws {
    try withFolder { file in
      let trace = try TraceFile(path: file.path)
      #expect(!trace.append([UInt8](repeating: 0, count: TraceFile.waitingLimit + 1)))
      trace.close()
    }
  }

  @Test("a full disk is told")
  func fullDisk() throws {
    #expect(throws: SystemError.self) { try TraceFile(path: "/proc/trace") }
  }
}
