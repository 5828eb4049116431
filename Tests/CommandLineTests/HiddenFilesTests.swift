import Foundation
import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine

private let gif: [UInt8] = Array("GIF89a".utf8) + [1, 0, 1, 0]
private let text: [UInt8] = Array("Hello, this is no image.".utf8)

@Suite("Hidden files in directories")
struct HiddenFilesTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for name in ["a.gif", ".b.gif", ".hidden/c.gif", ".hidden/deep/.d.gif", "sub/.e.gif", "sub/f.gif"] {
      try folder.write("d/" + name, gif)
    }
    for name in [".DS_Store", "._a.gif", ".hidden/notes.txt", ".Trash-1000/info/a.trashinfo"] {
      try folder.write("d/" + name, text)
    }
    let digits = String(repeating: "0123456789abcdef", count: 2)
    for name in [".piconet-resume-\(digits).part", ".piconet-17-\(digits).part", ".hidden/.piconet-1-\(digits).part"] {
      try folder.write("d/" + name, gif)
    }
  }

  private func walk(_ options: FileWalk.Options, _ names: [String] = ["d"]) -> (
    files: [String], folders: [String], leftOut: LeftOutFiles
  ) {
    var walk = FileWalk(names.map { LocalPath(folder.path + "/" + $0) }, options)
    var (files, folders): ([String], [String]) = ([], [])
    while let step = walk.next() {
      switch step {
      case .file(let file): files.append(file.offeredPath + (file.renaming.map { " since \($0)" } ?? ""))
      case .folder(let path, let offered, let why):
        folders.append("\(path.lastComponent.readable): \(offered), \(why)")
      case .failure(let failure): files.append("\(failure.path.lastComponent.readable): \(failure.message)")
      case .link, .twice: files.append("\(step)")
      }
    }
    return (files, folders, walk.leftOut)
  }

  @Test("are left out and counted as far as they would be sent: no partial files of receivers, no other kinds")
  func counted() {
    let result = walk(.init())
    #expect(result.files == ["d/a.gif", "d/sub/f.gif"])
    #expect(result.leftOut.hidden == 4 && result.leftOut.count == 0)
    #expect(result.leftOut.lines == ["left out, hidden: 4 files (--hidden sends them)"])
    #expect(walk(.init(any: true)).leftOut.hidden == 8)
  }

  @Test("are counted once where one directory is named twice, and not at all for further receivers")
  func countedOnce() {
    #expect(walk(.init(), ["d", "d"]).leftOut.hidden == 4)
    let result = walk(.init(hidden: .passedOver))
    #expect(result.files == ["d/a.gif", "d/sub/f.gif"] && result.leftOut.hidden == 0)
  }

  @Test("are sent after the others with --hidden, under visible names, with the reason")
  func sent() {
    let result = walk(.init(hidden: .sent))
    let why = "the name begins with a dot"
    #expect(
      result.files == [
        "d/a.gif", "d/sub/f.gif", "d/sub/e.gif since \(why)", "d/b.gif since \(why)", "d/hidden/c.gif",
        "d/hidden/deep/d.gif since \(why)",
      ])
    #expect(result.folders == [".Trash-1000: Trash-1000, \(why)", ".hidden: hidden, \(why)"])
    #expect(result.leftOut.hidden == 0 && result.leftOut.count == 4)
  }

  @Test("do not take the name of one that is seen")
  func names() throws {
    for name in ["x/.a.gif", "x/a.gif", "x/..a.gif", "x/.s/b.gif", "x/s/b.gif"] { try folder.write(name, gif) }
    let names = walk(.init(hidden: .sent), ["x"]).files.map { $0.prefix { $0 != " " } + ($0.contains("(") ? "#" : "") }
    #expect(names == ["x/a.gif", "x/s/b.gif", "x/a", "x/a", "x/s"].enumerated().map { $1 + ($0 > 1 ? "#" : "") })
  }

  @Test("in a directory that has nothing else are counted, and a limit on the count is reported")
  func barren() throws {
    try folder.write("h/.a.gif", gif)
    let result = walk(.init(), ["h"])
    #expect(result.files == ["h: the directory has no photos or videos"] && result.leftOut.hidden == 1)
    #expect(
      walk(.init(looks: 0)).leftOut.lines == ["left out, hidden: too many files to look at (--hidden sends them)"])
    #expect(walk(.init(looks: 2)).leftOut.lines == ["left out, hidden: at least 1 file (--hidden sends them)"])
  }

  @Test("what can't be read or loops among them is no failure")
  func odd() throws {
    try folder.write("o/a.gif", gif)
    try folder.write("o/.h/b.gif", gif)
    #expect(symlink("nowhere", folder.path + "/o/.dangling") == 0)
    #expect(symlink("..", folder.path + "/o/.h/up") == 0)
    #expect(symlink(".h", folder.path + "/o/.again") == 0)
    for follows in [false, true] {
      let result = walk(.init(followsLinks: follows), ["o"])
      #expect(result.files == ["o/a.gif"] && result.leftOut.hidden == 1)
    }
  }

  @Test("an empty file is called empty, named by hand or counted")
  func empty() throws {
    try folder.write("e/a.gif", gif)
    try folder.write("e/z.jpg", [])
    #expect(walk(.init(), ["e/z.jpg"]).files == ["z.jpg: the file is empty; use --any to send it all the same"])
    #expect(
      walk(.init(), ["e"]).leftOut.lines == ["left out, of other kinds: 1 empty file (--any sends them)"])
  }
}
