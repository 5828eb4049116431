import Glibc
import Testing

@testable import PiconetFiles

@Suite struct AbandonedPartialTests {
  @Test("a sweep removes the partial files of the dead and leaves those of the living and of others")
  func sweep() throws {
    let folder = try TemporaryDirectory()
    let settings = IncomingDirectory.Settings.test(unnamed: false)
    let receiver = try IncomingDirectory(path: folder.path, settings: settings)
    let file = try IncomingFile(in: receiver, name: name("a"), offeredSize: 1, policy: .rename)
    try file.write([1])
    let living = try #require(try entries(folder.path).first)
    // A killed process leaves its file without a lock.
    let dead = (0..<3).map { _ in PartialFileName.random().text }
    for name in dead { try folder.file(name, [1, 2, 3]) }
    let others = [
      ".piconet-1-short.part", ".piconet-x-00000000000000000000000000000000.part", "photo.part",
      ".piconet-1-00000000000000000000000000000000.part.jpg",
    ]
    for name in others { try folder.file(name) }
    let (link, subfolder) = (PartialFileName.random().text, PartialFileName.random().text)
    try folder.file("target")
    symlink("target", folder.path(link))
    _ = try folder.folder(subfolder)

    let another = try IncomingDirectory(path: folder.path, settings: settings)
    #expect(another.sweepAbandonedPartials() == 3)
    #expect(try Set(entries(folder.path)) == Set(others + [living, link, subfolder, "target"]))
    #expect(try file.commit(expectedDigest: digest([1])).stored != nil)
    #expect(another.sweepAbandonedPartials() == 0)
    #expect(try content(folder.path("a")) == [1])
  }

  @Test("the name of a partial file is recognized, and no peer can send it")
  func names() {
    let random = PartialFileName.random()
    #expect(PartialFileName(random.text) == random)
    #expect(PartialFileName.random() != random)
    #expect(random.text.hasPrefix(".piconet-\(getpid())-"))
    #expect(throws: FileNameRefusal.hidden) { try SafeFileName(random.text) }
    for text in ["", ".piconet-.part", ".piconet-part", ".piconet--.part"] { #expect(PartialFileName(text) == nil) }
  }
}
