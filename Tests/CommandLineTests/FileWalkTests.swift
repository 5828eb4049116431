import Foundation
import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine

private let gif: [UInt8] = Array("GIF89a".utf8) + [1, 0, 1, 0]
private let text: [UInt8] = Array("Hello, this is no image.".utf8)

/// All that a walk gives.
private struct Gathered {
  var files: [GatheredFile] = []
  var failures: [GatheringFailure] = []
  var links: [LocalPath] = []
  var twice: [LocalPath] = []
  var folders: [String] = []
  var leftOut = LeftOutFiles()

  init(_ operands: [LocalPath], _ options: FileWalk.Options = .init()) {
    var walk = FileWalk(operands, options)
    while let step = walk.next() {
      switch step {
      case .file(let file): files.append(file)
      case .failure(let failure): failures.append(failure)
      case .link(let path): links.append(path)
      case .folder(let path, let offered, let why):
        folders.append("\(path.lastComponent.readable): \(offered), since \(why)")
      case .twice(let path): twice.append(path)
      }
    }
    leftOut = walk.leftOut
  }

  /// The names under which the files are offered.
  var offered: [String] { files.map { ($0.folder.map { $0.text + "/" } ?? "") + $0.name.text } }
}

private func gather(
  _ folder: TemporaryFolder, _ names: String..., any: Bool = false, follows: Bool = false, depth: Int = 32,
  flat: Bool = false
) -> (files: [String], failures: [String]) {
  let operands = names.map { LocalPath(folder.path + "/" + $0) }
  let gathered = Gathered(operands, .init(any: any, isFlat: flat, followsLinks: follows, depth: depth))
  func relative(_ path: LocalPath) -> String { String(path.readable.dropFirst(folder.path.count + 1)) }
  return (gathered.files.map { relative($0.path) }, gathered.failures.map { "\(relative($0.path)): \($0.message)" })
}

@Suite("Files to send are gathered from the operands")
struct FileWalkTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test("a directory gives its images, recursively, sorted, without hidden ones and other files")
  func directory() throws {
    for name in ["b.jpg", "a.txt.gif", "sub/z", "sub/deep/y", ".hidden.gif", ".hidden/x.gif", "c c é.gif"] {
      try folder.write("d/" + name, gif)
    }
    try folder.write("d/notes.gif", text)
    try folder.write("d/empty.gif", [])
    let result = gather(folder, "d")
    #expect(result.files == ["d/a.txt.gif", "d/b.jpg", "d/c c é.gif", "d/sub/deep/y", "d/sub/z"])
    #expect(result.failures == [])
    #expect(
      gather(folder, "d/", any: true).files == [
        "d/a.txt.gif", "d/b.jpg", "d/c c é.gif", "d/empty.gif", "d/notes.gif", "d/sub/deep/y", "d/sub/z",
      ])
  }

  @Test("a file carries its size and kind")
  func details() throws {
    try folder.write("a", gif)
    try folder.write("b", text)
    let files = Gathered([LocalPath(folder.path + "/a"), LocalPath(folder.path + "/b")], .init(any: true)).files
    #expect(files.map(\.size) == [10, Int64(text.count)])
    #expect(files.map(\.kind) == [.gif, nil])
    #expect(files.map(\.path.lastComponent) == ["a", "b"])
  }

  @Test("what can't be sent fails alone; the others are sent in their order")
  func failures() throws {
    try folder.write("a.gif", gif)
    try folder.write("b.gif", gif)
    try folder.write("c.txt", text)
    try folder.write("none/c.txt", text)
    #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
    let result = gather(folder, "b.gif", "missing", "c.txt", "pipe", "none", "a.gif", "a.gif/x")
    #expect(result.files == ["b.gif", "a.gif"])
    #expect(
      result.failures == [
        "missing: No such file or directory", "c.txt: not a photo or video; use --any to send it all the same",
        "pipe: not a regular file", "none: the directory has no photos or videos", "a.gif/x: Not a directory",
      ])
    #expect(gather(folder, "pipe", any: true).failures == ["pipe: not a regular file"])
    #expect(gather(folder, "c.txt", any: true).files == ["c.txt"])
  }

  @Test("a name or folder with characters that cards do not take has another one ready, which nothing else has")
  func cards() throws {
    for name in [
      "d/12:30.gif", "d/12_30.gif", "d/x?/a.gif", "d/x_/a.gif", "d/x_/b|c.gif", "d/plain/a.gif", "d/x?/1:2.gif",
    ] { try folder.write(name, gif) }
    let files = Gathered([LocalPath(folder.path + "/d")]).files
    let places = files.map { file -> String in
      func text(_ name: AcceptableName, _ folder: AcceptableFolder?) -> String {
        (folder.map { $0.text + "/" } ?? "") + name.text
      }
      let other = file.onCards.map { " or " + text($0.name, $0.folder) } ?? ""
      return text(file.name, file.folder) + other
    }
    #expect(
      places == [
        "d/12:30.gif or d/12_30 (2).gif", "d/12_30.gif", "d/plain/a.gif", "d/x?/1:2.gif or d/x_ (2)/1_2.gif",
        "d/x?/a.gif or d/x_ (2)/a.gif", "d/x_/a.gif", "d/x_/b|c.gif or d/x_/b_c.gif",
      ])
    // One after the other, as for files that were named themselves.
    let named = Gathered(
      ["d/12_30.gif", "d/12:30.gif", "d/x_/a.gif"].map { LocalPath(folder.path + "/" + $0) }
    ).files
    #expect(named.map { $0.onCards?.name.text } == [nil, "12_30 (2).gif", nil])
  }

  @Test("a FIFO or a dangling link in a directory does not stop it")
  func oddEntries() throws {
    try folder.write("d/a.gif", gif)
    #expect(mkfifo(folder.path + "/d/pipe", 0o600) == 0)
    #expect(symlink("nowhere", folder.path + "/d/dangling") == 0)
    let result = gather(folder, "d", any: true)
    #expect(result.files == ["d/a.gif"])
    #expect(result.failures == ["d/dangling: No such file or directory"])
  }

  @Test("links to directories are followed when that is asked for, no directory is entered twice, and loops end")
  func loops() throws {
    try folder.write("d/a.gif", gif)
    try folder.write("other/b.gif", gif)
    #expect(symlink("../other", folder.path + "/d/link") == 0)
    #expect(symlink("..", folder.path + "/d/up") == 0)
    #expect(symlink(".", folder.path + "/d/self") == 0)
    #expect(symlink("ring", folder.path + "/d/ring") == 0)
    #expect(symlink("../other", folder.path + "/d/zweiter") == 0)
    let result = gather(folder, "d", follows: true)
    // `up` leads to `other`, too, but `link` comes first in the order of names.
    #expect(result.files == ["d/a.gif", "d/link/b.gif"])
    #expect(result.failures == ["d/ring: Too many levels of symbolic links"])
  }

  @Test(
    "a link to a directory within one is left alone, and said; one that was named is followed; links to files are their content"
  )
  func links() throws {
    try folder.write("album/a.gif", gif)
    try folder.write("secret.gif", gif)
    #expect(symlink("..", folder.path + "/album/loop") == 0)
    #expect(symlink("../secret.gif", folder.path + "/album/link.gif") == 0)
    #expect(symlink("album", folder.path + "/way") == 0)
    let gathered = Gathered([LocalPath(folder.path + "/album")])
    #expect(gathered.offered == ["album/a.gif", "album/link.gif"])
    #expect(gathered.links.map(\.readable) == [folder.path + "/album/loop"])
    #expect(gathered.failures == [])
    #expect(Gathered([LocalPath(folder.path + "/way")]).offered == ["way/a.gif", "way/link.gif"])
  }

  @Test("folders are kept, those of places are not named, and --flat is without")
  func folders() throws {
    for name in ["holiday/strand.gif", "holiday/sub/x.gif", "other/strand.gif", "z.gif"] { try folder.write(name, gif) }
    func offered(_ names: [String], flat: Bool = false) -> [String] {
      Gathered(names.map { LocalPath(folder.path + "/" + $0) }, .init(isFlat: flat)).offered
    }
    #expect(
      offered(["holiday", "other/", "z.gif"])
        == ["holiday/strand.gif", "holiday/sub/x.gif", "other/strand.gif", "z.gif"])
    #expect(offered(["holiday/."]) == ["strand.gif", "sub/x.gif"])
    #expect(offered(["holiday/sub/.."]) == ["strand.gif", "sub/x.gif"])
    #expect(offered(["holiday/sub"]) == ["sub/x.gif"])
    #expect(
      offered(["holiday", "other", "z.gif"], flat: true) == ["strand.gif", "x.gif", "strand (2).gif", "z.gif"])
  }

  @Test("no two files of a command have one name in one folder, and a file that is named twice is sent once")
  func meet() throws {
    for name in ["a/holiday/x.gif", "b/holiday/x.gif", "b/x.gif", "x.gif"] { try folder.write(name, gif) }
    let operands = ["a/holiday", "b/holiday", "x.gif", "b/x.gif", "x.gif", "a/holiday/"]
    let gathered = Gathered(operands.map { LocalPath(folder.path + "/" + $0) })
    #expect(gathered.offered == ["holiday/x.gif", "holiday/x (2).gif", "x.gif", "x (2).gif"])
    #expect(gathered.files.map(\.renaming).map { $0 == nil } == [true, false, true, false])
    #expect(gathered.twice.count == 2)
    #expect(Gathered(operands.map { LocalPath(folder.path + "/" + $0) }).offered == gathered.offered)
  }

  @Test("names that no receiver takes are repaired, folders too, and never meet one another or a sound one")
  func repaired() throws {
    for name in [
      "d/a\u{200B}.gif", "d/a\u{FEFF}.gif", "d/a.gif", "d/a (2).gif", "d/x.desktop", "d/CON.gif",
      "d/al\u{200F}bum/i.gif",
      "d/al\u{061C}bum/i.gif", "d/album/i.gif",
    ] { try folder.write(name, gif) }
    let gathered = Gathered([LocalPath(folder.path + "/d")])
    #expect(
      Set(gathered.offered) == [
        "d/a (3).gif", "d/a (4).gif", "d/a.gif", "d/a (2).gif", "d/x_desktop", "d/_CON.gif", "d/album (2)/i.gif",
        "d/album (3)/i.gif", "d/album/i.gif",
      ])
    #expect(gathered.offered.count == 9)
    let sound = gathered.files.filter { $0.renaming == nil }.map { $0.path.lastComponent.readable }
    #expect(Set(sound) == ["a.gif", "a (2).gif", "i.gif"])
  }

  @Test("the same URL's name twice gets a number")
  func urls() {
    let gathered = Gathered(["http://127.0.0.1/a/x.gif", "http://127.0.0.1/b/x.gif"])
    #expect(gathered.offered == ["x.gif", "x (2).gif"])
  }

  @Test("what is left out of a directory that is named twice counts once")
  func leftOutOnce() throws {
    try folder.write("p/a.gif", gif)
    for name in ["notes", "more"] { try folder.write("p/\(name).txt", text) }
    var walk = FileWalk(["/p", "/./p", "/p/"].map { LocalPath(folder.path + $0) })
    while walk.next() != nil {}
    #expect(walk.leftOut.count == 2)
  }

  @Test("12,000 files are walked one at a time, none is left out")
  func many() throws {
    for number in 0..<12_000 {
      if number % 1_000 == 0 {
        try FileManager.default.createDirectory(
          atPath: "\(folder.path)/m/\(number / 1_000)", withIntermediateDirectories: true)
      }
      let descriptor = open("\(folder.path)/m/\(number / 1_000)/\(number).gif", O_CREAT | O_WRONLY, 0o600)
      #expect(write(descriptor, gif, gif.count) == gif.count)
      close(descriptor)
    }
    var walk = FileWalk([LocalPath(folder.path + "/m")])
    var count = 0
    while let step = walk.next() {
      guard case .file = step else {
        Issue.record("\(step)")
        break
      }
      count += 1
    }
    #expect(count == 12_000)
  }

  @Test("a directory that is too deep fails, and the rest is sent")
  func limits() throws {
    for name in ["a", "b", "c"] { try folder.write("flat/\(name).gif", gif) }
    try folder.write("deep/1/2/3/a.gif", gif)
    try folder.write("deep/z.gif", gif)
    #expect(gather(folder, "deep", depth: 3).files.count == 2)
    let deep = gather(folder, "deep", "flat/a.gif", depth: 2)
    #expect(deep.files == ["deep/z.gif", "flat/a.gif"])
    #expect(deep.failures.count == 1 && deep.failures[0].hasPrefix("deep/1/2/3: more than 16 directories"))
    let path = "way/" + Array(repeating: "d", count: 16).joined(separator: "/")
    try folder.write(path + "/a.gif", gif)
    #expect(gather(folder, "way").failures.count == 1)
    #expect(gather(folder, "way", flat: true).files == [path + "/a.gif"])
  }

  @Test("a name that is not UTF-8 is gathered with its bytes")
  func rawNames() throws {
    try folder.write("d/a.gif", gif)
    let name = LocalPath(bytes: Array((folder.path + "/d/b").utf8) + [0xFF])
    let descriptor = name.withCString { open($0, O_CREAT | O_WRONLY, 0o600) }
    #expect(write(descriptor, gif, gif.count) == gif.count)
    close(descriptor)
    let gathering = Gathered([LocalPath(folder.path + "/d")])
    #expect(gathering.files.map(\.path.lastComponent.bytes) == [Array("a.gif".utf8), [0x62, 0xFF]])
    #expect(gathering.failures == [])
  }

  @Test("an unreadable file or directory says so", .enabled(if: geteuid() != 0, "root may read everything"))
  func unreadable() throws {
    try folder.write("d/a.gif", gif)
    try folder.write("secret/b.gif", gif)
    #expect(chmod(folder.path + "/d/a.gif", 0) == 0)
    #expect(chmod(folder.path + "/secret", 0) == 0)
    defer { chmod(folder.path + "/secret", 0o700) }
    #expect(gather(folder, "d", "secret").failures == ["d/a.gif: Permission denied", "secret: Permission denied"])
  }

  @Test(
    "the last component of a path",
    arguments: [("a", "a"), ("a/b", "b"), ("a/b//", "b"), ("/", "/"), ("///", "/"), ("", ""), (".", "."), ("/a", "a")])
  func lastComponent(path: String, expected: String) {
    #expect(LocalPath(path).lastComponent == LocalPath(expected))
  }

  @Test("ends when its task is cancelled, however many files are left, and reads no more of a folder's names")
  func cancelled() async throws {
    let folder = try TemporaryFolder()
    for number in 0..<3 { try folder.write("a\(number).gif", gif) }
    let path = LocalPath(folder.path)
    let (step, names) = try await Task {
      var walk = FileWalk([path])
      #expect(walk.next() != nil)
      withUnsafeCurrentTask { $0?.cancel() }
      return (walk.next(), try DirectoryNames(of: path).count)
    }.value
    #expect(step == nil && names == 0)
  }
}
