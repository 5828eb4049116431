import Foundation
import Glibc
import TestSupport
import Testing

@testable import Piconet

@Suite("A receiving directory that is moved or replaced between two offers", .timeLimit(.minutes(15)))
struct ReplacedDirectoryTests {
  @Test("nothing is stored where no path leads; what takes its place is used, and the path that is told is true")
  func replaced() async throws {
    let folder = try TemporaryFolder()
    let paths = try (0..<4).map { try folder.write("\($0).bin", [UInt8](repeating: UInt8($0), count: 1_000)) }
    try await Host.run { host in
      var outcomes = host.outcomes.makeAsyncIterator()
      let trash = folder.path + "/trash"
      try await Host.client { client in
        let member = try await client.invite(at: host.address)
        try await member.send(.file(paths[0]))
        #expect(try await outcomes.next()?.get().path == host.directory + "/0.bin")
        try #require(rename(host.directory, trash) == 0)
        for path in paths[0...1] {
          let error = await #expect(throws: PiconetError.self) { try await member.send(.file(path)) }
          #expect(error?.code == .directoryVanished && error?.blame == .peer, "\(String(describing: error))")
          guard case .failure(let refused) = await outcomes.next() else {
            Issue.record("stored")
            return
          }
          #expect(refused.code == .directoryVanished && refused.blame == .us)
        }
        try #require(mkdir(host.directory, 0o755) == 0)
        for path in paths[0...2] {
          let sent = try await member.send(.file(path))
          #expect(!sent.wasAlreadyPresent)
          let stored = try #require(try await outcomes.next()?.get())
          #expect(stored.path == host.directory + "/" + sent.storedName)
        }
        #expect(host.entries() == ["0.bin", "1.bin", "2.bin"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: trash) == ["0.bin"])
        // The former one is put back.
        try #require(rename(host.directory, trash + "2") == 0 && rename(trash, host.directory) == 0)
        #expect(try await member.send(.file(paths[0])).wasAlreadyPresent)
        _ = await outcomes.next()
        try await member.send(.file(paths[3]))
        #expect(host.entries() == ["0.bin", "3.bin"])
      }
    }
  }
}
