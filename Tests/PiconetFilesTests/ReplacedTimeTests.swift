import Glibc
import Testing

@testable import PiconetFiles

@Suite("Times that a disk does not take") struct ReplacedTimeTests {
  private func time(_ seconds: Int64, _ nanoseconds: UInt32 = 0) throws -> ModificationTime {
    try #require(ModificationTime(seconds: seconds, nanoseconds: nanoseconds))
  }

  @Test("what is only rounded is not told, and no distance is too far")
  func distances() throws {
    #expect(ReplacedTime(wanted: try time(7, 999_999_999), given: try time(6)) == nil)
    #expect(ReplacedTime(wanted: try time(4), given: try time(6)) == nil)
    #expect(ReplacedTime(wanted: try time(3), given: try time(6)) != nil)
    #expect(ReplacedTime(wanted: try time(.min), given: try time(.max)) != nil)
    #expect(ReplacedTime(wanted: try time(.max), given: try time(.min)) != nil)
  }

  @Test("a replaced time is reported as the wanted time and the stored one")
  func words() throws {
    let replaced = try #require(ReplacedTime(wanted: try time(-11_644_473_600), given: try time(-2_147_483_648)))
    #expect(
      replaced.sentence
        == "the disk does not take its time, 1601-01-01 00:00:00 UTC, and has 1901-12-13 20:45:52 UTC in its place")
    #expect(ReplacedTime.text(of: try time(.max)) == "9223372036854775807 s from 1970")
  }

  @Test("a file has the nearest time that its disk takes, and the commit tells of another one")
  func commit() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let directory = try IncomingDirectory(path: folder.path, settings: .test())
    for (number, seconds) in [Int64.min, -11_644_473_600, 0, 20_000_000_000, .max].enumerated() {
      let wanted = try time(seconds, 5)
      let file = try IncomingFile(in: directory, name: try name("\(number)"), offeredSize: 1, policy: .rename)
      try file.write([1])
      _ = try file.commit(expectedDigest: digest([1]), modificationTime: wanted)
      let given = ModificationTime(try status(folder.path("\(number)")).st_mtim)
      #expect((file.replacedTime?.given ?? wanted).seconds == given.seconds)
      #expect(file.replacedTime.map { $0.wanted == wanted } ?? true)
      if seconds == 0 { #expect(file.replacedTime == nil) }
    }
  }
}
