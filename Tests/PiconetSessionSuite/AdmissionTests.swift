import PiconetEngine
import PiconetTLS
import PiconetWire
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite(
    "Admission", .timeLimit(.minutes(15)))
  struct AdmissionTests {
    @Test(
      "an invitation by address makes both members, with the same short code and each other's key",
      arguments: SuiteTransport.all)
    func connects(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let inviting = Task { try await pair.invite(context: [7, 8], expecting: pair.server.id.peer) }
          let received = try await pair.invitation(of: inviting)
          #expect(received.context == [7, 8])
          let code = try await received.showCode()
          #expect(code.count == 7)
          let onServer = try await received.accept()
          let onClient = try await inviting.value
          #expect(onClient.id == pair.server.id)
          #expect(onServer.id == pair.client.id)
          #expect(onClient.proven.shortCode == code && onServer.proven.shortCode == code)
          #expect(onClient.name == "Server" && onServer.name == "Client")
        }
      }
    }

    @Test("declined: the inviter is told so, and why", arguments: SuiteTransport.all)
    func declined(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          for code in [PiconetError.Code.declined, .codeMismatch] {
            async let answer: Void = { try await pair.invitation().decline(code) }()
            let error = await failure { try await pair.invite() }
            try await answer
            #expect(error?.code == code && error?.blame == .peer, "\(String(describing: error))")
          }
          #expect(pair.client.session.members.isEmpty && pair.server.session.members.isEmpty)
        }
      }
    }

    @Test(
      "a cancelled task withdraws its invitation; the invited is told, and can't accept any more",
      arguments: SuiteTransport.all)
    func cancelled(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let inviting = Task { try await pair.invite() }
          let invitation = try await pair.invitation(of: inviting)
          inviting.cancel()
          let ended = await invitation.ended()
          #expect(ended?.code == .cancelled && ended?.blame == .peer)
          let error = await failure { try await inviting.value }
          #expect(error?.code == .cancelled && error?.blame == .us)
          #expect(await failure { try await invitation.accept() }?.code == .cancelled)
        }
      }
    }

    @Test("an unanswered invitation times out for the inviter and for the invited node", arguments: SuiteTransport.all)
    func timedOut(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          async let ended = { try await pair.invitation().ended() }()
          let error = await failure { try await pair.invite(timeout: transport.shortAttempt) }
          #expect(error?.code == .timedOut, "\(String(describing: error))")
          let onServer = try await ended
          #expect(onServer?.code == .timedOut, "\(String(describing: onServer))")
        }
      }
    }

    @Test("an invitation that ends before the program has taken it is taken back", arguments: SuiteTransport.all)
    func takenBack(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let inviting = Task { try await pair.invite() }
          try await world.until("the invitation waits") { pair.server.core.invitations.count == 1 }
          inviting.cancel()
          #expect(await failure { try await inviting.value }?.code == .cancelled)
          try await world.until("it is taken back") { pair.server.core.invitations.count == 0 }
          // A reader that comes now sees only the next one.
          let (onClient, onServer) = try await pair.connect()
          #expect(onClient.id == pair.server.id && onServer.id == pair.client.id)
        }
      }
    }

    @Test("a node of another session is not let in, and told so", arguments: SuiteTransport.all)
    func wrongSession(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair(client: { $0.sessionID += "-other" }) { pair in
          let error = await failure { try await pair.invite() }
          #expect(error?.code == .wrongSession && error?.blame == .peer, "\(String(describing: error))")
        }
      }
    }

    @Test("another key than the expected one is refused, naming both", arguments: SuiteTransport.all)
    func expectedKey(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let other = try DeviceIdentity.generate().peer
          let error = await failure { try await pair.invite(expecting: other) }
          #expect(error?.code == .identity && error?.blame == .peer, "\(String(describing: error))")
          #expect(error?.description.contains(other.shortDescription) == true)
          #expect(error?.description.contains(pair.server.id.peer.shortDescription) == true)
        }
      }
    }

    @Test(
      "a node that listens no more is unreachable, with the transport's own reason", arguments: SuiteTransport.all)
    func unreachable(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let addresses = try await pair.addresses()
          try await pair.server.setAvailable(false)
          let error = await failure { try await pair.client.invite(at: addresses, timeout: transport.patience) }
          #expect(error?.code == .unreachable, "\(String(describing: error))")
          #expect(error?.failures.map(\.transport) == [transport.kind])
          let code = try #require(error?.failures.first?.failure.code)
          // Over BR/EDR an adapter on which no node advertises soon stops answering.
          #expect(code == .refused || code == .hostDown && [.l2cap, .rfcomm].contains(transport.kind))
          let reason = error?.failures.first.map { "\($0)" } ?? "none"
          #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
        }
      }
    }

    @Test("a session of two takes no third, and the third is told", arguments: SuiteTransport.ofThree)
    func full(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: { $0.capacity = 2 }) { pair in
          _ = try await pair.connect()
          try await world.node(2, "Third") { third in
            let error = await failure {
              try await third.invite(at: pair.addresses(), timeout: transport.patience)
            }
            #expect(error?.code == .full && error?.blame == .peer, "\(String(describing: error))")
          }
          #expect(pair.server.session.members.map(\.id) == [pair.client.id])
          let error = await failure { try await pair.invite() }
          #expect(error?.code == .alreadyConnected, "\(String(describing: error))")
        }
      }
    }

    @Test("a session of three: what one sends to all arrives at each", arguments: SuiteTransport.ofThree)
    func three(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          _ = try await pair.connect()
          try await world.node(2, "Third") { third in
            async let accepted = pair.server.invitations.first()?.accept()
            _ = try await third.invite(at: pair.addresses(), timeout: transport.patience)
            _ = try await accepted
            let message = randomBytes(40_000)
            try await pair.server.session.send(message)
            for node in [pair.client, third] {
              #expect(await node.session.messages.first().map { Array($0.bytes) } == message)
            }
          }
        }
      }
    }

    @Test(
      "two nodes invite each other at once: both calls succeed, each has the other's context, and there is one association",
      arguments: SuiteTransport.all)
    func bothDial(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        for _ in 0..<transport.amount(20) {
          try await world.node(0, "Left") { left in
            try await world.node(1, "Right") { right in
              try await left.setAvailable(true)
              try await right.setAvailable(true)
              let (toLeft, toRight) = (try await world.addresses(of: left), try await world.addresses(of: right))
              async let first = left.invite(at: toRight, context: [1], timeout: transport.patience)
              async let second = right.invite(at: toLeft, context: [2], timeout: transport.patience)
              let (onLeft, onRight) = (try await first, try await second)
              #expect(onLeft.proven.invitationContext == [2] && onRight.proven.invitationContext == [1])
              #expect(onLeft.id == right.id && onRight.id == left.id)
              // They have one association, over which messages arrive, and no user was asked.
              #expect(onLeft.proven.shortCode == nil && onRight.proven.shortCode == nil)
              #expect(left.session.members.map(\.id) == [right.id])
              #expect(right.session.members.map(\.id) == [left.id])
              try await onLeft.send([1])
              try await onRight.send([2])
              #expect(await right.session.messages.first()?.bytes == [1])
              #expect(await left.session.messages.first()?.bytes == [2])
              // Neither program was told of an invitation: each was the answer to the other.
              #expect(left.core.invitations.count + right.core.invitations.count == 0)
            }
          }
        }
      }
    }
  }
}
