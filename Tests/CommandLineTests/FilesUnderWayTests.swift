import Piconet
import Testing

@testable import PiconetCommandLine

@Suite("How many files are sent to a receiver at once")
struct FilesUnderWayTests {
  private func file(_ size: Int64, url: Bool = false) -> GatheredFile {
    GatheredFile(
      path: LocalPath(url ? "https://localhost/a.jpg" : "/a.jpg"), size: size, kind: nil,
      name: AcceptableName(Array("a.jpg".utf8)), folder: nil, renaming: nil)
  }

  /// How many of the files begin before the first has to wait.
  private func begun(_ files: [GatheredFile], descriptors: Int = 1_024) -> Int {
    var underWay = FilesUnderWay(descriptors: descriptors)
    for file in files where underWay.admits(file) { underWay.begin(file) }
    return underWay.count
  }

  @Test("four large ones, thirty-two small ones, and in between as many as have 8 MiB together")
  func sizes() {
    #expect(begun([GatheredFile](repeating: file(50 << 20), count: 100)) == 4)
    #expect(begun([GatheredFile](repeating: file(.max), count: 100)) == 4)
    #expect(begun([GatheredFile](repeating: file(10_000), count: 100)) == 32)
    #expect(begun([GatheredFile](repeating: file(0), count: 100)) == 32)
    #expect(begun([GatheredFile](repeating: file(1 << 20), count: 100)) == 8)
    #expect(begun([GatheredFile](repeating: file(0, url: true), count: 100)) == 4)
  }

  @Test("fewer where few descriptors may be open, but always one")
  func descriptors() {
    let files = [GatheredFile](repeating: file(10_000), count: 100)
    #expect(begun(files, descriptors: 0) == 1)
    #expect(begun(files, descriptors: 32) == 1)
    #expect(begun(files, descriptors: 64) == 5)
    #expect(begun(files, descriptors: 280) == 32)
    #expect(begun([GatheredFile](repeating: file(50 << 20), count: 100), descriptors: 40) == 2)
  }

  @Test("beside a large one there are three others, until it has ended")
  func mixed() {
    var underWay = FilesUnderWay(descriptors: 1_024)
    underWay.begin(file(1 << 30))
    for _ in 0..<3 {
      #expect(underWay.admits(file(1)))
      underWay.begin(file(1))
    }
    #expect(!underWay.admits(file(1)))
    underWay.end(file(1 << 30))
    for _ in 0..<29 {
      #expect(underWay.admits(file(1)))
      underWay.begin(file(1))
    }
    #expect(!underWay.admits(file(1)))
  }
}
