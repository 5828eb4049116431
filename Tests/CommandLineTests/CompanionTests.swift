import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("What belongs to a photo goes with it")
struct CompanionTests {
  private let folder: TemporaryFolder
  private let film = Array("\0\0\0\u{14}ftypqt  \0\0\0\0qt  ".utf8)
  private let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16]
  init() throws { folder = try TemporaryFolder() }

  private func offered(_ names: String..., takesCompanions: Bool = true) -> [String] {
    var walk = FileWalk(
      names.map { LocalPath(folder.path + "/" + $0) }, .init(takesCompanions: takesCompanions))
    var files: [String] = []
    while let step = walk.next() {
      if case .file(let file) = step { files.append(file.name.text) }
    }
    return files
  }

  @Test("the sidecars of both spellings and the film of a live photo, once each, and nothing else")
  func photo() throws {
    try folder.write("IMG_1.jpg", jpeg)
    try folder.write("IMG_1.jpg.xmp", Array("<x:xmpmeta>".utf8))
    try folder.write("IMG_1.xmp", Array("<?xpacket begin".utf8))
    try folder.write("IMG_1.MOV", film)
    try folder.write("IMG_1.txt", Array("a note".utf8))
    try folder.write("IMG_10.MOV", film)
    #expect(offered("IMG_1.jpg") == ["IMG_1.jpg", "IMG_1.jpg.xmp", "IMG_1.xmp", "IMG_1.MOV"])
    #expect(offered("IMG_1.jpg", takesCompanions: false) == ["IMG_1.jpg"])
    #expect(offered("IMG_1.MOV", "IMG_1.jpg") == ["IMG_1.MOV", "IMG_1.jpg", "IMG_1.jpg.xmp", "IMG_1.xmp"])
    #expect(offered("IMG_1.MOV") == ["IMG_1.MOV"])
  }

  @Test("files belong together by their names, in a directory and named themselves")
  func group() throws {
    for name in ["IMG_1.jpg", "IMG_1.jpg.xmp", "IMG_1.NEF", "IMG_1.MOV", "IMG_1.x.jpg", "IMG_10.jpg", "IMG_1 (2).jpg"] {
      try folder.write("d/" + name, jpeg)
    }
    let expected: Set = ["IMG_1.jpg", "IMG_1.jpg.xmp", "IMG_1.NEF", "IMG_1.MOV"]
    let names = try DirectoryNames(of: LocalPath(folder.path + "/d"))
    for name in expected {
      let path = LocalPath(folder.path + "/d/" + name)
      let found = Set(Companions.group(of: path, nil).map { String(decoding: $0.lastComponent.bytes, as: UTF8.self) })
      #expect(found == expected)
      // The library leaves out what only begins like it.
      let known = Companions.group(of: path, names).map { String(decoding: $0.lastComponent.bytes, as: UTF8.self) }
      #expect(Set(known) == expected.union(["IMG_1.x.jpg"]))
    }
    #expect(Companions.group(of: LocalPath(folder.path + "/d/IMG_10.jpg"), nil) == [])
    #expect(Companions.group(of: LocalPath(folder.path + "/d/IMG_10.jpg"), names) == [])
  }

  @Test("what belongs together is offered under one number, where files of several directories have one name")
  func oneNumber() throws {
    for name in ["a/IMG_1.jpg", "b/IMG_1.jpg", "b/IMG_1.MOV", "b/IMG_1.xmp", "c/IMG_1 (2).MOV"] {
      try folder.write("d/" + name, name.hasSuffix("MOV") ? film : jpeg)
    }
    var walk = FileWalk([LocalPath(folder.path + "/d")], .init(isFlat: true))
    var names: [String] = []
    while let step = walk.next() {
      if case .file(let file) = step { names.append(file.name.text) }
    }
    #expect(names == ["IMG_1.jpg", "IMG_1 (2).MOV", "IMG_1 (2).jpg", "IMG_1 (2).xmp", "IMG_1 (3).MOV"])
  }

  @Test("a file that only has such a name is left where it is")
  func onlyByName() throws {
    try folder.write("a.jpg", jpeg)
    try folder.write("a.xmp", Array("my diary".utf8))
    try folder.write("a.mov", Array("my other diary".utf8))
    #expect(offered("a.jpg") == ["a.jpg"])
  }

  @Test("in a directory videos and sidecars are sent like photos")
  func directory() throws {
    for (name, bytes) in [("d/a.jpg", jpeg), ("d/a.mov", film), ("d/a.xmp", Array("<x:xmpmeta>".utf8))] {
      try folder.write(name, bytes)
    }
    #expect(offered("d") == ["a.jpg", "a.mov", "a.xmp"])
  }
}
