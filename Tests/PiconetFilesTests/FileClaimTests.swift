import Foundation
import Glibc
import Synchronization
import Testing

@testable import PiconetFiles

@Suite("Files that a sender says it has") struct FileClaimTests {
  private func claim(_ text: String, _ content: [UInt8], folder: String = "", size: Int? = nil) throws -> FileClaim {
    FileClaim(
      folder: try SafeFolder(bytes: Array(folder.utf8)), name: try name(text), size: UInt64(size ?? content.count),
      digest: digest(content))
  }

  @Test("are found by their content, each under its own name or another, and nothing else is")
  func found() throws {
    let folder = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: folder.path, settings: .test())
    for seed: UInt8 in 0..<2 { try receive("photo.jpg", pattern(5000, seed: seed), in: directory) }
    try receive("other.jpg", pattern(70, seed: 5), in: directory)
    let noted = UsedFiles()
    let claims = [
      try claim("photo.jpg", pattern(5000)), try claim("photo.jpg", pattern(5000, seed: 1)),
      try claim("photo.jpg", pattern(5000, seed: 2)), try claim("other.jpg", pattern(70, seed: 5), size: 71),
      try claim("missing.jpg", pattern(70)), try claim("other.jpg", pattern(70, seed: 5), folder: "below"),
      try claim("other.jpg", pattern(70, seed: 5)),
    ]
    let found = directory.find(claims, notingIn: noted)
    #expect(found.map { $0?.relative } == ["photo.jpg", "photo (2).jpg", nil, nil, nil, nil, "other.jpg"])
    #expect(found[0]?.absolute == folder.path("photo.jpg"))
    #expect(noted.paths == ["photo.jpg", "photo (2).jpg", "other.jpg"])
    for text in ["photo.jpg", "photo (2).jpg", "other.jpg"] {
      #expect(noted.contains(FileIdentity(try status(folder.path(text))).trace))
    }
  }

  @Test("cost one look at each folder, one reading of each file, and none where nothing has changed since")
  func work() throws {
    let folder = try TemporaryDirectory()
    var calls = FileSystemCalls()
    let opened = Mutex<[String]>([])
    let synchronized = Mutex(0)
    let (open, synchronize) = (calls.open, calls.synchronizeEntries)
    calls.open = { folder, name, flags in
      opened.withLock { $0.append(name) }
      return open(folder, name, flags)
    }
    calls.synchronizeEntries = { folder in
      synchronized.withLock { $0 += 1 }
      return synchronize(folder)
    }
    let directory = try IncomingDirectory(path: folder.path, settings: .test(), calls: calls)
    var claims: [FileClaim] = []
    for place in ["a", "b/c"] {
      let path = folder.path(place)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      for number in 0..<200 {
        let content = Array("\(place) \(number)".utf8)
        try Data(content).write(to: URL(filePath: "\(path)/\(number)"))
        claims.append(try claim("\(number)", content, folder: place))
      }
    }
    #expect(directory.find(claims).allSatisfy { $0 != nil })
    #expect(opened.withLock(\.count) == 400)
    #expect(synchronized.withLock { $0 } == 2)
    // The times of change can't be set back: until the files are old enough they are read again.
    let patience = ContinuousClock.now + .seconds(60)
    repeat {
      opened.withLock { $0 = [] }
      #expect(directory.find(claims).allSatisfy { $0 != nil })
    } while opened.withLock({ !$0.isEmpty }) && .now < patience
    #expect(opened.withLock { $0.isEmpty })
    try Data("b/c 8".utf8).write(to: URL(filePath: folder.path("b/c/7")))
    let changed = directory.find(claims)
    #expect(changed.count { $0 == nil } == 1 && changed[207] == nil)
  }

  @Test("count as missing where the folder can't be made durable, and where it is a link")
  func unsound() throws {
    let folder = try TemporaryDirectory()
    var calls = FileSystemCalls()
    try FileManager.default.createDirectory(atPath: folder.path("a"), withIntermediateDirectories: true)
    try Data([1]).write(to: URL(filePath: folder.path("a/x")))
    try FileManager.default.createSymbolicLink(atPath: folder.path("b"), withDestinationPath: "a")
    let claims = [try claim("x", [1], folder: "a"), try claim("x", [1], folder: "b")]
    let sound = try IncomingDirectory(path: folder.path, settings: .test(), calls: calls)
    #expect(sound.find(claims).map { $0?.relative } == ["a/x", nil])
    calls.synchronizeEntries = { _ in EIO }
    let failing = try IncomingDirectory(path: folder.path, settings: .test(), calls: calls)
    #expect(failing.find(claims).allSatisfy { $0 == nil })
  }
}
