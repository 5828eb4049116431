import PiconetTerminal
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("What was received is noted")
struct HistoryTests {
  private let folder: TemporaryFolder
  private let key = String(repeating: "ab", count: 32)
  init() throws { folder = try TemporaryFolder() }

  private func stored(_ path: String, bytes: Int64 = 5) -> ProgramEvent {
    .stored(ProgramEvent.Stored(peer: key, file: "f", path: path, bytes: bytes, sha256: ""))
  }

  @Test("with the name that the sender had, the newest last; tabs and newlines in names change nothing")
  func entries() throws {
    let history = History(in: folder.path)
    #expect(try history.last(5).isEmpty)
    let name = "Mum\t's \n phone\\"
    #expect(
      history.record(
        .connected(ProgramEvent.Connected(peer: key, name: name, transport: "tcp", fingerprint: key, code: nil)), at: 1)
        == nil
    )
    for number in 1...4 { #expect(history.record(stored("/p/\(number)\t\n.jpg"), at: Int64(number)) == nil) }
    #expect(
      history.record(
        .declined(ProgramEvent.Declined(peer: key, name: "Bob", reason: "declined", message: "said no")), at: 9)
        == nil)
    // Another run reads it.
    let last = try History(in: folder.path).last(3)
    #expect(last.map(\.text) == ["/p/3\t\n.jpg", "/p/4\t\n.jpg", "said no"])
    #expect(last.map(\.name) == [name, name, "Bob"] && last.map(\.time) == [3, 4, 9])
    let text = last[0].text(safe: { displaySafe($0, unicode: true) })
    #expect(!text.contains("\n") && text.contains("(\(key.prefix(12)))") && text.contains("5 B"))
  }

  @Test("damaged lines are passed over, and the file has a limit")
  func limits() throws {
    try folder.write("history", Array("garbage\n1\treceived\tx\ty\tz\tt\n\u{FFFD}\n".utf8))
    let history = History(in: folder.path)
    #expect(try history.last(5).isEmpty)
    let long = "/" + String(repeating: "x", count: 60_000)
    for number in 0..<60 { #expect(history.record(stored(long, bytes: Int64(number)), at: 0) == nil) }
    let kept = try history.last(1_000)
    #expect(kept.last?.bytes == 59 && kept.count > 17 && kept.count < 60, "\(kept.count)")
  }

  @Test("a history that can't be written is reported once")
  func failure() throws {
    let history = History(in: folder.path + "/none")
    #expect(history.record(stored("/a"), at: 0)?.contains("No such file or directory") == true)
    #expect(history.record(stored("/b"), at: 0) == nil)
  }
}
