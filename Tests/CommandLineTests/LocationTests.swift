import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine
@testable import PiconetTerminal

@Suite("What a photo says of its place")
struct LocationTests {
  @Test("is what exiftool names so, by kind; a bare version, minor warnings and values count for nothing")
  func report() {
    let report = LocationReport(
      """
      [File] FileType: JPEG
      [GPS] GPSVersionID: 2.3.0.0
      [ExifTool] Warning: [minor] Possibly incorrect maker notes offsets
      [XMP-dc] Title: [GPS] GPSLatitude: 52
      """)
    #expect(report.kinds == [.place], "every line is one that was asked for: this one can only be another place")
    #expect(report.fileType == "JPEG" && report.problem == nil)
    let full = LocationReport(
      """
      [GPS] GPSLatitude: 52 deg 30' 0.00"
      [IPTC] City: Berlin
      [IPTC] Province-State: Berlin
      [IPTC] Country-PrimaryLocationName: Germany
      [IPTC] Sub-location: Mitte
      [File] FileType: TIFF
      [File] FileType: JPEG
      [ExifTool] Warning: Truncated
      """)
    #expect(full.kinds == Set(LocationKind.allCases))
    #expect(full.fileType == "TIFF" && full.problem == "Truncated")
    #expect(LocationKind.text(full.kinds) == "GPS position, city, state, country, place name")
    #expect(LocationReport("").fileType == nil)
    #expect(LocationReport("[\n]\n[x\n[x]\n: \n[File] FileType").fileType == nil)
    #expect(LocationReport("[ExifTool] Error: Unknown file type").problem == "Unknown file type")
  }

  private func look(_ bytes: [UInt8]) throws -> LocationTraces.Outcome {
    let folder = try TemporaryFolder()
    try folder.write("a", bytes)
    let file = try #require(FileHandle(forReadingAtPath: folder.path + "/a"))
    return try LocationTraces.look(file.fileDescriptor)
  }

  @Test("is found wherever it is written, also across two pieces, and nowhere else")
  func traces() throws {
    let film = Array("\u{A9}xyz".unicodeScalars.map { UInt8($0.value) }) + [0, 18, 21, 199]
    for mark in [Array("GPSLatitude".utf8), Array("location.ISO6709".utf8), film + Array("-33.8".utf8)] {
      for start in [0, 5, (1 << 20) - mark.count - 1, (1 << 20) - 3, (2 << 20) - mark.count + 1] {
        var bytes = [UInt8](repeating: 0x47, count: 2 << 20)
        bytes.replaceSubrange(start..<(start + min(mark.count, bytes.count - start)), with: mark)
        #expect(try look(bytes).found != nil, "\(mark) at \(start)")
      }
    }
    #expect(try look(film + Array("no position".utf8)).found == nil)
    #expect(try look(Array("GPSLatitud".utf8)).found == nil)
    #expect(try look(film).found == nil)
    let empty = try look([])
    #expect(empty.found == nil)
    #expect(empty.digest?.starts(with: [0xE3, 0xB0, 0xC4, 0x42]) == true)
    #expect(try look(Array("abc".utf8)).digest?.starts(with: [0xBA, 0x78, 0x16, 0xBF]) == true)
  }

  @Test("is in the summary and in the events, once for each file")
  func told() {
    var summary = TransferSummary()
    for (peer, file) in [("k", "a.jpg"), ("l", "a.jpg"), ("k", "b.jpg")] {
      summary.record(
        .stored(.init(peer: peer, file: file, path: file, bytes: 1, sha256: "", takenOut: [.city, .position])), at: .now
      )
    }
    summary.record(.present(.init(peer: "k", file: "c.jpg", path: "c.jpg", bytes: 1, sha256: "")), at: .now)
    #expect(
      summary.lines { displaySafe($0) }.contains("location taken out of 2 files (GPS position, city)"))
    let line = EventLine.text(
      .present(.init(peer: "k", file: "c", path: "c", bytes: 1, sha256: "0", takenOut: [.place, .position])))
    #expect(line.hasSuffix("\"takenOut\":[\"position\",\"place\"]}\n"), "\(line)")
  }

  @Test("while it is taken out, or a person is asked, the receiver is not given up")
  func patience() {
    let start = ContinuousClock.now
    var patience = DeliveryPatience(limit: .seconds(3), at: start)
    patience.beganPreparing()
    #expect(patience.failure(at: start + .seconds(100)) == nil)
    #expect(patience.end == start + .seconds(103))
    patience.endedPreparing(at: start + .seconds(101))
    #expect(patience.failure(at: start + .seconds(103)) == nil)
    #expect(patience.failure(at: start + .seconds(104))?.word == "timed-out")
  }
}
