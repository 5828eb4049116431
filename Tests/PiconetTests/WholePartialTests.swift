import Foundation
import PiconetEngine
import PiconetFiles
import PiconetWire
import TestSupport
import Testing

@testable import Piconet

@Suite("A receiver that has every byte already", .timeLimit(.minutes(15)))
struct WholePartialTests {
  /// Two blocks of the journal.
  private static let content = (0..<(2 << 20)).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ ($0 >> 8)) }

  private static func sum() throws -> PiconetFiles.SHA256Digest {
    try #require(content.withUnsafeBytes { RunningSHA256.digest(of: $0) })
  }

  @Test("a file that died between the last byte and the final name is stored by the next offer, and not sent again")
  func stored() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("film.bin", Self.content)
    try await Host.run { host in
      try await Host.client { client in
        let size = UInt64(Self.content.count)
        let key = try #require(
          ResumptionKey(
            sender: client.id.peer, isKnown: true, identity: try OutgoingFile(path: path).contentIdentity, size: size))
        let partial = try IncomingFile(
          in: try IncomingDirectory(path: host.directory), name: try SafeFileName("film.bin"), offeredSize: size,
          policy: .rename, resuming: key)
        try Self.content.withUnsafeBytes { try partial.write($0) }
        partial.keep()
        let sent = try await client.invite(at: host.address).send(.file(path))
        #expect(sent.resumedFrom == size && sent.size == size)
        #expect(try sent.digest == Self.sum())
        #expect(host.entries() == ["film.bin"])
        #expect(try TemporaryFolder.bytes(host.directory + "/film.bin") == Self.content)
      }
    }
  }

  @Test("a receiver that only says so is told the digest of the whole file, and so is the sender's user")
  func claimed() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("film.bin", Self.content)
    let expected = try #require(ResourceDigest(sha256: Self.sum().bytes))
    try await Host.run(takesOffers: false) { host in
      let raw = try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.join()
        return raw
      }
      let member = try #require(host.node.session.members.first)
      async let told = blocking {
        let number = try raw.wait(for: "an offer") { if case .offer(let number, _) = $0 { number } else { nil } }
        let size = UInt64(Self.content.count)
        try raw.send(.acceptOffer(transfer: number, offset: size, limit: size))
        let digest = try raw.wait(for: "its end") {
          if case .end(number, size, let digest) = $0 { digest } else { nil }
        }
        try raw.send(.stored(transfer: number, name: Array("film.bin".utf8)))
        return digest
      }
      let sent = try await member.send(.file(path))
      #expect(try sent.digest == Self.sum())
      #expect(try await told == expected)
    }
  }
}
