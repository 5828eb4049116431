import Foundation
import Testing

@testable import PiconetCommandLine
@testable import PiconetTerminal

@Suite("How often progress is reported")
struct ProgressBudgetTests {
  /// How often a console writes the progress of each file, in so many ticks a tenth of a second apart. Each file gets a
  /// byte further between two ticks.
  private func told(of files: Int, isTrusted: Bool, isTold: Bool = true, ticks: Int) throws -> [String: Int] {
    let path = FileManager.default.temporaryDirectory.appending(path: "piconet-progress-\(UUID().uuidString)").path
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    unlink(path)
    let console = Console(
      program: "test", json: true, verbosity: Verbosity(), output: StandardStream(descriptor: descriptor))
    let board = TransferBoard(console: console)
    let keys = (0..<files).map {
      board.begin(
        "\($0)", peer: TransferPeer(id: "x", fingerprint: "x", name: "x"), total: 1 << 20, isTrusted: isTrusted,
        isTold: isTold)
    }
    let start = ContinuousClock.now
    for tick in 1...ticks {
      for key in keys { board.progressed(key, done: UInt64(tick), resumedFrom: 0) }
      board.tick(at: start + .milliseconds(100 * tick))
    }
    lseek(descriptor, 0, SEEK_SET)
    let text = String(decoding: try FileHandle(fileDescriptor: descriptor).readToEnd() ?? Data(), as: UTF8.self)
    var counts: [String: Int] = [:]
    for line in text.split(separator: "\n") {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      counts[try #require(object?["file"] as? String), default: 0] += 1
    }
    return counts
  }

  @Test("four files of devices that may push have ten a second each; of a hundred each has its turn")
  func trusted() throws {
    #expect(try told(of: 4, isTrusted: true, ticks: 100) == ["0": 100, "1": 100, "2": 100, "3": 100])
    let counts = try told(of: 100, isTrusted: true, ticks: 100)
    // 40 at once, then 4 every tenth of a second.
    #expect(counts.count == 100)
    #expect(counts.values.allSatisfy { (4...5).contains($0) }, "\(counts)")
    #expect((430...440).contains(counts.values.reduce(0, +)))
  }

  @Test("strangers' files get 256 reports, then one a second for all together, each file in its turn")
  func strangers() throws {
    let counts = try told(of: 128, isTrusted: false, ticks: 1_000)
    #expect(counts.count == 128)
    #expect(counts.values.allSatisfy { (2...3).contains($0) }, "\(counts)")
    #expect((350...356).contains(counts.values.reduce(0, +)))
  }

  @Test("a file that was not told of has none")
  func unreported() throws { #expect(try told(of: 1, isTrusted: true, isTold: false, ticks: 10) == [:]) }
}
