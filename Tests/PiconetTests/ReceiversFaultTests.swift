import Foundation
import PiconetFiles
import TestSupport
import Testing

@testable import Piconet

@Suite("What goes wrong on the receiver's disk", .timeLimit(.minutes(15)))
struct ReceiversFaultTests {
  /// Three blocks of the journal.
  private static let content = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ ($0 >> 8)) }

  /// A stranger offers a file, and the receiver stores it.
  /// - Returns: how it has ended for the sender and for the receiver.
  private func failures(
    _ policy: ConflictPolicy = .rename, _ start: @escaping @Sendable (String) -> Void
  ) async throws -> (sender: PiconetError?, receiver: PiconetError?) {
    let folder = try TemporaryFolder()
    let path = try folder.write("film.bin", Self.content)
    var failures: (sender: PiconetError?, receiver: PiconetError?)
    try await Host.run(takesOffers: false) { host in
      let directory = try await host.node.receivingDirectory(at: host.directory)
      if policy == .overwrite { start(host.directory) }
      try await Host.client { client in
        let member = try await client.invite(at: host.address)
        let sending = try await member.startSending(.file(path))
        let offer = try #require(await host.node.session.offers.first())
        do throws(PiconetError) {
          try await offer.store(in: directory, onConflict: policy) { [directory = host.directory] _ in
            start(directory)
            return true
          }
        } catch {
          failures.receiver = error
        }
        do throws(PiconetError) { _ = try await sending.result } catch { failures.sender = error }
      }
    }
    return failures
  }

  @Test("is not said of the sender's file: what had arrived is removed while the rest comes")
  func removed() async throws {
    let failures = try await failures { directory in
      for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
        unlink(directory + "/" + name)
      }
    }
    for (failure, blame) in [(failures.sender, Blame.peer), (failures.receiver, .us)] {
      #expect(failure?.code == .storageFailed && failure?.blame == blame, "\(String(describing: failure))")
      #expect(failure?.detail == "what had arrived of the file was removed while the rest came")
    }
  }

  @Test("is not said of the sender's file: a directory has the name of a file that is to be replaced")
  func notRegular() async throws {
    let failures = try await failures(.overwrite) { mkdir($0 + "/film.bin", 0o700) }
    #expect(failures.sender?.code == .storageFailed && failures.sender?.blame == .peer)
    #expect(failures.receiver?.blame == .us)
  }
}
