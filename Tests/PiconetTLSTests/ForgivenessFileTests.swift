import Foundation
import Testing

@testable import PiconetTLS

@Suite("Strangers that are forgiven")
struct ForgivenessFileTests {
  private let digits = String(repeating: "ab", count: 6)

  @Test("a program hears once of each act after it began, of no earlier one, and also after the file was removed")
  func reader() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory).forgiveness
    try file.forgive("", at: 1_000)
    var reader = file.reader()
    #expect(reader.take() == [])
    try file.forgive(digits, at: 1_000)
    var second = file.reader()
    try file.forgive("", at: 900)
    #expect(reader.take() == [digits, ""] && reader.take() == [])
    #expect(second.take() == [""])
    #expect(try folder.mode(of: folder.directory.file("forgiven")) == 0o600)
    #expect(unlink(folder.directory.file("forgiven")) == 0)
    #expect(reader.take() == [])
    try file.forgive(digits, at: 2_000)
    #expect(reader.take() == [digits] && reader.take() == [])
  }

  @Test("at most 64 acts are kept, and a line that can't be read forgives nothing")
  func limits() throws {
    let folder = try TemporaryFolder()
    let file = KnownPeersFile(directory: folder.directory).forgiveness
    var reader = file.reader()
    for number in 0..<100 { try file.forgive(number == 99 ? "" : digits, at: 5) }
    #expect(reader.take() == Array(repeating: digits, count: 63) + [""])
    let lines = ["piconet-forgiven 1", "x\t*", "9999", "9999\tAB", "9998\t\(digits)x", "10000\t\(digits)"]
    try folder.write(lines.joined(separator: "\n"), to: "forgiven")
    #expect(reader.take() == [digits])
    try folder.write("20000\t*\n", to: "forgiven")
    #expect(reader.take() == [])
    for wrong in ["ab", digits.uppercased(), String(repeating: "a", count: 65)] {
      #expect(throws: StateFailure.self) { try file.forgive(wrong, at: 1) }
    }
  }
}
