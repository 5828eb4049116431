import PiconetWire
import Testing

@testable import PiconetFiles

@Suite("Partial files of content that has come whole") struct SupersededPartialTests {
  private let folder: TemporaryDirectory
  private let directory: IncomingDirectory
  private let content = pattern(3 << 20)

  init() throws {
    folder = try TemporaryDirectory(inMemory: true)
    directory = try IncomingDirectory(path: folder.path, settings: .test())
  }

  private func key(_ sender: UInt8, isKnown: Bool = false, size: Int) throws -> ResumptionKey {
    let peer = try #require(PeerID(bytes: [UInt8](repeating: sender, count: PeerID.byteCount)))
    return try #require(ResumptionKey(sender: peer, isKnown: isKnown, identity: [1], size: UInt64(size)))
  }

  private func begin(_ bytes: [UInt8], _ key: ResumptionKey, stopsAfter count: Int? = nil) throws {
    let file = try IncomingFile(
      in: directory, name: try name("film.mov"), offeredSize: UInt64(bytes.count), policy: .rename, resuming: key)
    try file.write(Array(bytes.prefix(count ?? bytes.count)))
    if count != nil { return file.keep() }
    _ = try file.commit(expectedDigest: digest(bytes))
  }

  private var partials: Int { get throws { try entries(folder.path).count { $0.hasSuffix(".part") } } }

  @Test("what a sender with another key has begun goes when the same content is stored")
  func sameContent() throws {
    try begin(content, try key(1, size: content.count), stopsAfter: 2 << 20)
    #expect(try partials == 1)
    try begin(content, try key(2, size: content.count))
    #expect(try entries(folder.path) == ["film.mov"])
  }

  @Test("also where the receiver has been started anew in between")
  func restarted() throws {
    try begin(content, try key(1, size: content.count), stopsAfter: 2 << 20)
    let again = try IncomingDirectory(path: folder.path, settings: .test())
    again.sweepAbandonedPartials()
    let file = try IncomingFile(
      in: again, name: try name("film.mov"), offeredSize: UInt64(content.count), policy: .rename,
      resuming: try key(2, size: content.count))
    #expect(file.resumedSize == 0)
    try file.write(content)
    _ = try file.commit(expectedDigest: digest(content))
    #expect(try entries(folder.path) == ["film.mov"])
  }

  @Test("other content, another size, and what a known sender has begun stay")
  func others() throws {
    try begin(pattern(3 << 20, seed: 1), try key(1, size: 3 << 20), stopsAfter: 2 << 20)
    try begin(pattern(4 << 20), try key(3, size: 4 << 20), stopsAfter: 2 << 20)
    try begin(content, try key(4, isKnown: true, size: content.count), stopsAfter: 2 << 20)
    try begin(content, try key(2, size: content.count))
    #expect(try partials == 3)
  }
}
