import Testing

@testable import PiconetCommandLine
@testable import PiconetTerminal

private func stored(_ peer: String, _ bytes: Int64) -> ProgramEvent {
  .stored(.init(peer: peer, file: "a.jpg", path: "a.jpg", bytes: bytes, sha256: ""))
}

private func failed(_ peer: String?, _ file: String?, _ message: String) -> ProgramEvent {
  .failed(.init(peer: peer, file: file, reason: "declined", message: message, exitCode: .refused))
}

@Suite("What has become of files")
struct TransferSummaryTests {
  private let start = ContinuousClock.now

  private func lines(_ events: [ProgramEvent], after time: Duration = .zero, leftOut: LeftOutFiles = .init())
    -> [String]
  {
    var summary = TransferSummary()
    summary.leftOut = leftOut
    summary.record(.offered(.init(peer: "k", file: "a.jpg", bytes: 1)), at: start)
    for event in events { summary.record(event, at: start + time) }
    return summary.lines { displaySafe($0) }
  }

  @Test("one file has no summary; several have the number stored, bytes, time and rate")
  func few() {
    #expect(lines([stored("k", 50)]) == [])
    #expect(lines([stored("k", 50), stored("k", 60)], after: .milliseconds(340)) == ["2 stored; 110 B in 0.3 s"])
    #expect(
      lines([stored("k", 2_000_000_000), stored("k", 1_000_000_000)], after: .seconds(130))
        == ["2 stored; 3.0 GB in 2:10, 23 MB/s"])
    #expect(
      lines([
        .present(.init(peer: "k", file: "b", path: "b", bytes: 9, sha256: "")),
        .skipped(.init(peer: "k", file: "c", reason: "exists")), failed("k", "d", "no"),
      ]) == ["1 already there, 1 skipped, 1 failed"])
  }

  @Test("the rate is that of what crossed the link in this run: not what was there before, but also what was lost")
  func transferred() {
    let resumed = ProgramEvent.stored(
      .init(
        peer: "k", file: "a", path: "a", bytes: 60_000_000, sha256: "", resumedFrom: 42_000_000, transferred: 18_000_000
      ))
    let lost = ProgramEvent.failed(
      .init(
        peer: "k", file: "b", reason: "link-failed", message: "no", exitCode: .linkLost, transferred: 42_000_000))
    let late = ProgramEvent.present(
      .init(peer: "k", file: "c", path: "c", bytes: 1_000_000, sha256: "", transferred: 1_000_000))
    #expect(
      lines([resumed, resumed], after: .seconds(4)) == ["2 stored; 120 MB (36 MB transferred) in 4.0 s, 9.0 MB/s"])
    #expect(
      lines([stored("k", 51_000), lost], after: .seconds(10))
        == ["1 stored, 1 failed; 51 kB (42 MB transferred) in 10 s, 4.2 MB/s"])
    #expect(
      lines([late, lost], after: .seconds(10)) == ["1 already there, 1 failed; 43 MB transferred in 10 s, 4.3 MB/s"])
    let (found, other) = (
      ProgramEvent.connecting(.init(peer: "k", name: "Kitchen", transports: ["tcp"])),
      ProgramEvent.connecting(.init(peer: "h", name: "Hall", transports: ["tcp"]))
    )
    #expect(
      lines([found, other, resumed, stored("h", 5)]) == [
        "Kitchen: 1 stored; 60 MB (18 MB transferred)", "Hall: 1 stored; 5 B",
        "2 stored; 60 MB (18 MB transferred)",
      ])
  }

  @Test("failed files that no receiver was offered are counted apart, since its sum has none of them")
  func notOffered() {
    let local = ProgramEvent.failed(
      .init(peer: nil, file: "n", reason: "unreadable", message: "no", exitCode: .localFile, wasOffered: false))
    #expect(lines([stored("k", 50), local]) == ["1 stored, 1 failed (not offered); 50 B"])
    #expect(
      lines([stored("k", 50), local, failed("k", "b", "no"), local])
        == ["1 stored, 3 failed (2 not offered); 50 B"])
    #expect(lines([local, local]) == ["2 failed"], "there is no other sum")
  }

  @Test("what a person did not choose has not failed, and needs no reason")
  func notChosen() {
    let other = ProgramEvent.failed(
      .init(peer: "k", file: "c", reason: "not-chosen", message: "not chosen", exitCode: .stored))
    #expect(lines([stored("k", 50), other, other]) == ["1 stored, 2 not chosen; 50 B"])
  }

  @Test("each reason of many failures is reported with its number and first files, the commonest first")
  func reasons() {
    var events = (1...1_000).map { failed("k", "\($0).jpg", "it said \u{1B}[31mno\nand more") }
    events += [failed(nil, "x\n.jpg", "Permission denied"), failed("k", nil, "the connection broke")]
    #expect(
      lines(events) == [
        "1,002 failed", "  1,000: it said \\u{1b}[31mno (1.jpg, 2.jpg, 3.jpg and 997 more)",
        "  1: Permission denied (x\\n.jpg)", "  1: the connection broke",
      ])
  }

  @Test("a full disk is one reason, whatever was free for which file")
  func fullDisk() {
    let lines = lines(
      (0..<20).map { number in
        .failed(
          .init(
            peer: "k", file: "a", reason: "disk-full",
            message: "the disk is full: 9 bytes are needed, \(number) are free", exitCode: .refused))
      })
    #expect(lines.last == "  20: the disk is full (a, a, a and 17 more)", "\(lines)")
  }

  @Test("reasons beyond the fifth are counted only, so that no peer fills the memory or the screen")
  func limited() {
    let lines = lines((0..<100).map { failed("k", "a", "reason \($0)") })
    #expect(lines.count == 2 + TransferSummary.reasonLimit)
    #expect(lines.last == "  95: for other reasons")
  }

  @Test("several receivers have a line each, by the name that they have since they have proven their key")
  func receivers() {
    let found = ProgramEvent.connecting(.init(peer: "k", name: "Kitchen", transports: ["tcp"]))
    let dialled = ProgramEvent.connecting(.init(peer: nil, name: nil, transports: ["tcp"], address: "192.0.2.7:1"))
    let proven = ProgramEvent.connected(.init(peer: "h", name: "Hall\u{7}", transport: "tcp", fingerprint: "h"))
    #expect(
      lines([found, dialled, proven, stored("k", 5), stored("k", 5), failed("h", "a.jpg", "no")]) == [
        "Kitchen: 2 stored; 10 B", "Hall\\u{7}: 1 failed", "2 stored, 1 failed; 10 B",
      ])
    let many = (0..<11).map { failed("h", "\($0).jpg", "no") }
    #expect(lines([found, dialled, proven] + many).last == "  11: Hall\\u{7}: no (0.jpg, 1.jpg, 2.jpg and 8 more)")
    #expect(lines([found, stored("k", 5), stored("k", 5)]) == ["2 stored; 10 B"])
  }

  @Test("files left out of directories are reported by kind, also beside a single sent file")
  func leftOut() {
    var files = LeftOutFiles()
    for _ in 0..<12 { files.add(.video) }
    files.add(.raw)
    for _ in 0..<3 { files.add(.other) }
    #expect(
      lines([stored("k", 5)], leftOut: files) == [
        "left out, of other kinds: 12 videos, 1 raw file, 3 other files (--any sends them)"
      ])
    var other = LeftOutFiles()
    other.add(.other)
    #expect(other.lines == ["left out, of other kinds: 1 file (--any sends them)"])
    other.add(.hidden)
    #expect(lines([stored("k", 5)], leftOut: other).last == "left out, hidden: 1 file (--hidden sends them)")
  }

  @Test(
    "the kind of a left out file comes from its content",
    arguments: [
      ("\0\0\0\u{18}ftypisom", .video), ("\0\0\0\u{14}ftypqt  ", .video), ("\0\0\0\u{18}ftyp3gp4", .video),
      ("\0\0\0\u{8}wide\0\0\0\0mdat", .video), ("RIFF\0\0\0\0AVI LIST", .video), ("RIFF\0\0\0\0WAVEfmt ", .other),
      ("\0\0\0\u{18}ftypM4A ", .other), ("FOVb\0\0\u{3}\0", .raw), ("II\u{1A}\0\0\0HEAPCCDR", .raw),
      ("<x:xmpmeta xmlns", .other), ("", .empty),
    ] as [(String, LeftOutFiles.Kind)])
  func kinds(start: String, kind: LeftOutFiles.Kind) { #expect(LeftOutFiles.Kind(header: Array(start.utf8)) == kind) }

  @Test("numbers have their thousands apart, times are as long as they have to be")
  func figures() {
    #expect([0, 999, 1_000, 12_345_678].map(HumanFigures.count) == ["0", "999", "1,000", "12,345,678"])
    #expect(
      [.milliseconds(40), .milliseconds(9_990), .seconds(10), .milliseconds(59_999), .seconds(60), .seconds(7_500)]
        .map(HumanFigures.elapsed) == ["less than 0.1 s", "9.9 s", "10 s", "59 s", "1:00", "2:05:00"])
  }
}
