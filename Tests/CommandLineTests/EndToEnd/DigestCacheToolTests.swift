import Foundation
import Glibc
import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("Files that were read in an earlier run are not read again, unless they have changed")
struct DigestCacheToolTests {
  private func digests(_ scene: ToolScene, _ state: String) -> SHA256Digest.Cache {
    let cache = SHA256Digest.Cache()
    #expect(DigestCacheFile(in: LocalPath(scene.cacheHome(state) + "/piconet"), cache: cache).load() == nil)
    return cache
  }

  /// Sends the album to receivers, one after the other, until both sides know what is in it: what has just been made is
  /// read by each.
  private func sendUntilKnown(_ album: String, _ count: Int, _ scene: ToolScene) async throws {
    let end = ContinuousClock.now + ToolProcess.patience
    while digests(scene, "sender").count < count || digests(scene, "Kitchen").count < count {
      try #require(.now < end, "never known")
      let receiver = try await scene.receiver()
      let sender = try scene.sender("--to", "Kitchen", album)
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(sender.events("present").count == count, "\(sender.output)")
      receiver.terminate()
      #expect(await receiver.end() == 143)
    }
  }

  /// Other bytes, the same size, and the modification time as before.
  private func rewrite(_ path: String, mask: UInt8 = 1) throws {
    var status = stat()
    try #require(stat(path, &status) == 0)
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    try file.seek(toOffset: 1_000)
    let byte = try #require(try file.read(upToCount: 1)?.first)
    try file.seek(toOffset: 1_000)
    try file.write(contentsOf: [byte ^ mask])
    try file.close()
    var times = [status.st_mtim, status.st_mtim]
    try #require(utimensat(AT_FDCWD, path, &times, 0) == 0)
  }

  private static let names = ["kept", "linked", "moved", "rewritten"].map { $0 + ".jpg" }

  private func album(_ scene: ToolScene) throws -> String {
    let album = try scene.folder.folder("album")
    for name in Self.names {
      try FileManager.default.moveItem(atPath: try scene.photo(name), toPath: "\(album)/\(name)")
    }
    try FileManager.default.copyItem(atPath: album, toPath: "\(scene.into)/album")
    return album
  }

  @Test("no way of changing a file, on either side, makes one that is not there \"already there\"")
  func changed() async throws {
    try await ToolScene.run { scene in
      let album = try album(scene)
      let into = scene.into + "/album"
      try await sendUntilKnown(album, Self.names.count, scene)
      let receiver = try await scene.receiver()
      try rewrite(into + "/rewritten.jpg")
      try FileManager.default.copyItem(atPath: into + "/moved.jpg", toPath: scene.folder.path + "/other")
      try rewrite(scene.folder.path + "/other")
      try #require(rename(scene.folder.path + "/other", into + "/moved.jpg") == 0)
      try #require(link(into + "/linked.jpg", scene.folder.path + "/link") == 0)
      try rewrite(scene.folder.path + "/link")
      var sender = try scene.sender("--to", "Kitchen", album)
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(sender.events("present").compactMap { $0["file"] as? String } == ["\(album)/kept.jpg"])
      #expect(sender.events("stored").count == 3, "\(sender.output)")
      for name in ["linked", "moved", "rewritten"] {
        #expect(try scene.isSame("\(album)/\(name).jpg", "\(into)/\(name) (2).jpg"), "\(name)")
      }
      // What the sender once knew of it is there, as "rewritten (2).jpg".
      try rewrite(album + "/rewritten.jpg", mask: 2)
      sender = try scene.sender("--to", "Kitchen", album)
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(sender.events("present").count == 3, "\(sender.output)")
      #expect(sender.events("stored").compactMap { $0["file"] as? String } == ["\(album)/rewritten.jpg"])
      #expect(try scene.isSame(album + "/rewritten.jpg", into + "/rewritten (3).jpg"))
      #expect(receiver.isRunning)
    }
  }

  @Test("a known digest decides without reading; with --no-cache the files are read")
  func decides() async throws {
    try await ToolScene.run { scene in
      let album = try album(scene)
      try await sendUntilKnown(album, Self.names.count, scene)
      // A digest that is wrong on purpose shows which program believes it.
      let (path, cache) = (scene.into + "/album/kept.jpg", digests(scene, "Kitchen"))
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      var status = stat()
      try #require(descriptor >= 0 && fstat(descriptor, &status) == 0)
      let wrong = try #require(SHA256Digest(bytes: [UInt8](repeating: 1, count: 32)))
      cache.note(wrong, of: status, lookedAt: SHA256Digest.Cache.now, in: descriptor)
      close(descriptor)
      let place = LocalPath(scene.cacheHome("Kitchen") + "/piconet")
      #expect(DigestCacheFile(in: place, cache: cache).save() == nil)
      for (options, outcome) in [(["--no-cache"], "present"), ([], "stored")] {
        let receiver = try await scene.receiver(options)
        let sender = try scene.sender("--to", "Kitchen", album)
        #expect(await sender.end() == 0, "\(sender.error)")
        let told = sender.events(outcome).compactMap { $0["file"] as? String }
        #expect(told.contains("\(album)/kept.jpg"), "\(options): \(sender.output)")
        receiver.terminate()
        #expect(await receiver.end() == 143)
      }
    }
  }

  @Test("a damaged file of digests is reported with -v only, and does no harm")
  func damaged() async throws {
    try await ToolScene.run { scene in
      let album = try album(scene)
      for options in [[], ["-v"]] {
        for state in ["sender", "Kitchen"] {
          try scene.folder.write("cache-\(state)/piconet/digests", [1, 2, 3])
          try #require(chmod(scene.cacheHome(state) + "/piconet", 0o700) == 0)
        }
        let receiver = try await scene.receiver(options)
        let sender = try scene.start("imagesend", ["--to", "Kitchen", album] + options, state: "sender")
        #expect(await sender.end() == 0, "\(sender.error)")
        #expect(sender.error.contains("without the digests") == !options.isEmpty, "\(sender.error)")
        #expect(receiver.error.contains("without the digests") == !options.isEmpty, "\(receiver.error)")
        #expect(sender.error.contains("4 already there"), "\(sender.error)")
        receiver.terminate()
        #expect(await receiver.end() == 143)
      }
    }
  }
}
