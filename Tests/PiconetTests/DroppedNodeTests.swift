import PiconetEngine
import Synchronization
import TestSupport
import Testing

@testable import Piconet

@Suite("A node that is dropped without being stopped", .timeLimit(.minutes(15)))
struct DroppedNodeTests {
  @Test(
    "begins to stop: members are told why, nothing listens or advertises any more, all waits end, and nothing is left")
  func dropped() async throws {
    try await inOwnProcess {
      let before = descriptorCount()
      let board = AdvertisingBoard()
      let core = try await Host.client { client in try await drop(board, memberOf: client) }
      // The rest of the node ends on its own threads.
      while nodeThreadCount() > 0 { await Task.yield() }
      while core.value != nil { await Task.yield() }
      try expectNothingLeft(since: before)
    }
  }

  @Test("and stopped at the same moment, stops once, and the call that stops it waits for the end")
  func droppedWhileStopping() async throws {
    var node: Node? = try await Node(Host.configuration("Dropped"))
    let session = try #require(node).session
    let stopping = Task { [node] in await node?.stop() }
    node = nil
    await stopping.value
    #expect(session.core.isClosed)
  }
}

/// A server that is dropped while a client is its member.
private func drop(_ board: AdvertisingBoard, memberOf client: Node) async throws -> Weak {
  var configuration = Host.configuration("Dropped")
  configuration.mode = .server
  configuration.additional = { _ in board.parts }
  var node: Node? = try await Node(configuration)
  try await node?.setAvailable(true)
  let address = try #require(await node?.listeningAddresses.first?.text)
  let session = try #require(node?.session)
  let invitations = try #require(node?.invitations)
  let accepting = Task { for await invitation in invitations { _ = try? await invitation.accept() } }
  let member = try await client.invite(at: address)
  try #require(board.log.last == "advertises Dropped")

  node = nil
  var reason: PiconetError.Code?
  for await change in client.session.membership {
    if case .left(member, let error) = change {
      reason = error.code
      break
    }
  }
  try #require(reason == .shuttingDown)
  for await _ in session.messages {}
  await accepting.value
  try #require(session.core.isClosed && session.members.isEmpty)
  try #require(board.log.last == "closed")
  #expect(throws: RawLink.Failure.self) { _ = try RawLink(to: address) }
  return Weak(session.core)
}

/// Looks at a core without keeping it.
private final class Weak: @unchecked Sendable {
  // Sendable is right: constant after `init`.
  private(set) weak var value: NodeCore?
  init(_ value: NodeCore) { self.value = value }
}

/// A discovery that notes what it is told.
private final class AdvertisingBoard: Discovery, Sendable {
  private let lines = Mutex<[String]>([])

  var log: [String] { lines.withLock { $0 } }
  var parts: NodeConfiguration.AdditionalParts {
    NodeConfiguration.AdditionalParts(transports: [], discoveries: [self], shutDown: { $0() })
  }

  private func note(_ line: String) { lines.withLock { $0.append(line) } }

  var sourceName: String { "board" }
  func advertise(_ advertisement: NodeAdvertisement?) { note(advertisement.map { "advertises \($0.name)" } ?? "hides") }
  func search(sessionID: String?) {}
  func setHandler(_ handler: @escaping (DiscoveryReport) -> Void) {}
  func close() { note("closed") }
}
