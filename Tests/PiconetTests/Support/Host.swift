import Foundation
import Piconet
import Synchronization
import TestSupport
import Testing

/// A node that accepts everybody and stores every file, as `imagerecv` does.
struct Host: Sendable {
  let node: Node
  let address: String
  /// Where files are stored.
  let directory: String
  /// How each offer ended.
  let outcomes: AsyncStream<Result<ReceivedFile, PiconetError>>
  /// Who left, and why.
  let departures: AsyncStream<PiconetError>

  static func configuration(_ name: String = "Host") -> NodeConfiguration {
    var configuration = NodeConfiguration(sessionID: "test", name: name)
    configuration.listen = "127.0.0.1:0"
    configuration.discovers = false
    return configuration
  }

  static func run<Value>(
    _ change: (inout NodeConfiguration) -> Void = { _ in }, takesOffers: Bool = true,
    maximumFileSize: UInt64? = nil, policy: ConflictPolicy = .rename, _ body: (Host) async throws -> Value
  ) async throws -> Value {
    let folder = try TemporaryFolder()
    var configuration = configuration()
    configuration.mode = .server
    change(&configuration)
    let node = try await Node(configuration)
    let (outcomes, outcome) = AsyncStream.makeStream(of: Result<ReceivedFile, PiconetError>.self)
    let (departures, departure) = AsyncStream.makeStream(of: PiconetError.self)
    let accepting = Task {
      for await invitation in node.invitations { _ = try? await invitation.accept() }
    }
    let leaving = Task {
      for await change in node.session.membership {
        if case .left(_, let error) = change { departure.yield(error) }
      }
    }
    let directory = try folder.folder("in")
    // Before the task: on a busy machine the node may have stopped by the time that it runs.
    let receiving =
      takesOffers ? try await node.receivingDirectory(at: directory, maximumFileSize: maximumFileSize) : nil
    let storing = Task {
      guard let receiving else { return }
      await withTaskGroup(of: Void.self) { group in
        for await offer in node.session.offers {
          group.addTask {
            do throws(PiconetError) {
              outcome.yield(.success(try await offer.store(in: receiving, onConflict: policy)))
            } catch {
              outcome.yield(.failure(error))
            }
          }
        }
      }
    }
    do {
      try await node.setAvailable(true)
      let address = try #require(await node.listeningAddresses.first).text
      let value = try await body(
        Host(node: node, address: address, directory: directory, outcomes: outcomes, departures: departures))
      await node.stop()
      await accepting.value
      await leaving.value
      await storing.value
      return value
    } catch {
      await node.stop()
      throw error
    }
  }

  /// Shows that an honest peer is still served: it connects, and a file that it sends is stored.
  func servesAnHonestPeer(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("honest-\(UUID().uuidString).bin", [UInt8](repeating: 7, count: 100_000))
    let sent = try await Self.client { client in
      try await client.invite(at: address, timeout: .seconds(20)).send(.file(path))
    }
    #expect(sent.size == 100_000, sourceLocation: sourceLocation)
    #expect(entries().contains(sent.storedName), sourceLocation: sourceLocation)
  }

  /// The files in the directory, hidden ones too, sorted.
  func entries() -> [String] { ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted() }

  /// A node that only invites.
  static func client<Value>(
    _ name: String = "Client", _ change: (inout NodeConfiguration) -> Void = { _ in },
    _ body: (Node) async throws -> Value
  ) async throws -> Value {
    var configuration = configuration(name)
    configuration.mode = .client
    change(&configuration)
    return try await Node.run(configuration, body)
  }
}

/// The error that `body` throws.
func failure<Value>(_ body: () async throws -> Value) async -> PiconetError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? PiconetError
  }
}

extension AsyncSequence where Failure == Never {
  /// The next element of a sequence that others may read on.
  func first() async -> Element? {
    for await element in self { return element }
    return nil
  }
}
