import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("Files of a long command line that nothing belongs to")
struct NeighbouringNamesTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> LocalPath { LocalPath(folder.path + "/" + name) }

  @Test("are those whose names alone begin so, in any letter case; what is not known is looked for on the disk")
  func alone() throws {
    for name in ["a.jpg", "b.jpg", "B.MOV", "c.jpg", "c.x.jpg", "Käthe.jpg", ".d.jpg", "e (2).jpg", "e.jpg"] {
      try folder.write(name, [])
    }
    var names = NeighbouringNames(operands: NeighbouringNames.leastOperands)
    let all =
      ["a.jpg", ".d.jpg", "e (2).jpg", "e.jpg"] + [
        "b.jpg", "B.MOV", "c.jpg", "Käthe.jpg", "not-there.jpg", "none/a.jpg",
      ]
    #expect(all.filter { names.isAlone(path($0)) } == ["a.jpg", ".d.jpg", "e (2).jpg", "e.jpg"])
    var few = NeighbouringNames(operands: NeighbouringNames.leastOperands - 1)
    let isKnown = few.isAlone(path("a.jpg"))
    #expect(!isKnown)
  }

  @Test("a folder with far more names than the command line is not read")
  func budget() throws {
    for number in 0..<(NeighbouringNames.leastOperands * 20) { try folder.write("many/\(number).jpg", []) }
    try folder.write("one/a.jpg", [])
    var names = NeighbouringNames(operands: NeighbouringNames.leastOperands)
    let known = ["one/a.jpg", "many/1.jpg", "one/a.jpg"].map { names.isAlone(path($0)) }
    #expect(known == [true, false, true])
  }

  @Test("of many files that are named each brings what belongs to it, as of few")
  func asOfFew() throws {
    let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16]
    let names = (0..<100).map { "IMG_\($0).jpg" }
    for name in names { try folder.write(name, jpeg) }
    try folder.write("IMG_7.MOV", Array("\0\0\0\u{14}ftypqt  \0\0\0\0qt  ".utf8))
    try folder.write("IMG_8.jpg.xmp", Array("<x:xmpmeta>".utf8))
    func files(_ names: [String]) -> [String: [LocalPath]] {
      var walk = FileWalk(names.map(path))
      var files: [String: [LocalPath]] = [:]
      while let step = walk.next() { if case .file(let file) = step { files[file.name.text] = file.group } }
      return files
    }
    let many = files(names)
    let few = names.reduce(into: [:]) { all, name in all.merge(files([name])) { $1 } }
    #expect(many == few && many.count == 102 && many["IMG_7.MOV"]?.count == 2 && many["IMG_8.jpg.xmp"]?.count == 2)
  }
}
