import Foundation
import Piconet
import PiconetActors
import TestSupport
import Testing

@Suite("Options of sessions", .timeLimit(.minutes(10)))
struct SessionOptionsTests {
  private func configuration(_ name: String, _ session: String, _ options: SessionOptions) -> NodeConfiguration {
    var configuration = Pair.configuration(name, session)
    configuration.apply(options)
    return configuration
  }

  /// Runs a node with these options that lets in nodes that want the same, and passes its address.
  private func withHost(
    _ options: SessionOptions, _ session: String,
    _ body: (Node, String, AsyncStream<PiconetError.Code?>) async throws -> Void
  ) async throws {
    let (answers, answered) = AsyncStream.makeStream(of: PiconetError.Code?.self)
    try await Node.run(configuration("Host", session, options)) { host in
      try await host.setAvailable(true)
      let accepting = Task {
        for await invitation in host.invitations {
          let isFirst = options.traffic == .messages && invitation.peer.name == "Ben"
          if isFirst { #expect(invitation.joining?.context == [1, 2]) }
          do throws(PiconetError) {
            try await invitation.accept(joining: options)
            answered.yield(nil)
          } catch {
            answered.yield(error.code)
          }
        }
      }
      defer { accepting.cancel() }
      try await body(host, try #require(await host.listeningAddresses.first).text, answers)
    }
  }

  /// The code with which joining fails.
  private func refusal(_ node: Node, _ address: String, _ options: SessionOptions) async -> PiconetError.Code? {
    do throws(PiconetError) {
      _ = try await node.join(at: address, options)
      return nil
    } catch {
      return error.code
    }
  }

  @Test("a point-to-point session refuses a third, on both sides with the reason, until there is a place again")
  func pointToPoint() async throws {
    let session = UUID().uuidString
    let options = SessionOptions(.messages, isMultipoint: false)
    try await withHost(options, session) { host, address, answers in
      try await Node.run(configuration("Ben", session, options)) { ben in
        try await Node.run(configuration("Cleo", session, options)) { cleo in
          var answers = answers.makeAsyncIterator()
          let member = try await ben.join(at: address, options, context: [1, 2])
          #expect(member.id == host.id)
          #expect(await answers.next() == .some(nil))
          #expect(await refusal(cleo, address, options) == .full)
          let changes = host.session.membership
          await member.disconnect()
          for await case .left in changes { break }
          #expect(await refusal(cleo, address, options) == nil)
        }
      }
    }
  }

  @Test("a raw session carries bytes in both directions, and refuses a node that wants messages")
  func raw() async throws {
    let session = UUID().uuidString
    let options = SessionOptions(.raw)
    try await withHost(options, session) { host, address, answers in
      try await Node.run(configuration("Ben", session, options)) { ben in
        var answers = answers.makeAsyncIterator()
        #expect(await refusal(ben, address, SessionOptions()) == .notWanted)
        #expect(await answers.next() == .notWanted)
        // A node that states no options wants messages.
        await #expect(throws: PiconetError.self) { try await ben.invite(at: address) }
        #expect(await answers.next() == .notWanted)
        let member = try await ben.join(at: address, options)
        #expect(await answers.next() == .some(nil))
        async let there = host.rawBytes(with: try #require(host.session[ben.id]))
        let here = try await ben.rawBytes(with: member)
        let (other, text) = (try await there, Array("It is raw: 0 1 2".utf8))
        for (from, to) in [(here, other), (other, here)] {
          try await from.outgoing.write(text)
          async let end: Void = from.outgoing.finish()
          var read: [UInt8] = []
          for try await bytes in to.incoming { read += bytes }
          try await end
          #expect(read == text)
        }
      }
    }
  }

  @Test("a reader of a member's bytes is told why the member leaves")
  func rawDeparture() async throws {
    let session = UUID().uuidString
    let options = SessionOptions(.raw)
    try await withHost(options, session) { host, address, _ in
      try await Node.run(configuration("Ben", session, options)) { ben in
        let member = try await ben.join(at: address, options)
        let waiting = Task { () -> PiconetError.Code? in
          do throws(PiconetError) {
            _ = try await ben.rawBytes(with: member)
            return nil
          } catch {
            return error.code
          }
        }
        // It has opened its half, and waits for the other.
        for await stream in host.session.streams {
          #expect(stream.name == RawBytes.streamName)
          break
        }
        await host.session[ben.id]?.disconnect()
        #expect(await waiting.value == .left)
      }
    }
  }

  @Test("transports and proximity restrict what a node uses")
  func restrictions() {
    var given = NodeConfiguration(sessionID: "s", name: "n")
    given.transports = [.tcp, .l2cap, .le, .relay]
    func applied(_ options: SessionOptions) -> NodeConfiguration {
      var configuration = given
      configuration.apply(options)
      return configuration
    }
    #expect(applied(SessionOptions()).transports == given.transports && applied(SessionOptions()).capacity == 8)
    #expect(applied(SessionOptions(.messages, transports: [.le, .relay])).transports == [.le, .relay])
    #expect(applied(SessionOptions(.messages, proximity: .network)).transports == [.tcp, .l2cap, .le])
    let device = applied(SessionOptions(.raw, isMultipoint: false, proximity: .device))
    #expect(device.transports == [.tcp] && device.interfaces == ["lo"] && device.listen == "127.0.0.1:0")
    #expect(device.capacity == 2)
  }

  @Test("each end of a session is one of the six reasons")
  func losses() async throws {
    let own = NodeID(
      peer: try #require(PeerID(bytes: [UInt8](repeating: 1, count: 32))), incarnation: .init(rawValue: 1))
    let cases: [(PiconetError, SessionLoss)] = [
      (PiconetError(.left, blame: .peer), .remoteLeft), (PiconetError(.left, blame: .us), .leftHere),
      (PiconetError(.shuttingDown, blame: .peer), .remoteLeft),
      (PiconetError(.linkFailed, blame: .link), .remoteClosedAbruptly),
      (PiconetError(.timedOut, blame: .link), .linkTimeout), (PiconetError(.removed, blame: .peer), .removed),
      (PiconetError(.protocolBroken, blame: .peer), .other), (PiconetError(.full, blame: .peer), .other),
    ]
    for (error, loss) in cases { #expect(error.sessionLoss(at: own) == loss, "\(error)") }
    try await Pair.nodes { service, client, _ in
      let ends = (service.session.membership, client.session.membership)
      func loss(_ changes: EventSequence<MembershipChange>, at node: Node) async -> SessionLoss? {
        for await case .left(_, let error) in changes { return error.sessionLoss(at: node.id) }
        return nil
      }
      try await service.session.remove(try #require(service.session[client.id]))
      #expect(await loss(ends.0, at: service) == .leftHere)
      #expect(await loss(ends.1, at: client) == .removed)
    }
  }
}
