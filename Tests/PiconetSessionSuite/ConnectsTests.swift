import PiconetEngine
import TestSupport
import Testing

@testable import Piconet

#if Bluetooth
  import PiconetSDP
#endif

extension SessionSuite {
  @Suite(
    "Connects in a row", .timeLimit(.minutes(30)),
    .machine("--adapters 3 --env PICONET_SUITE=rfcomm", "--adapters 3 --env PICONET_SUITE=le", or: .anywhere))
  struct ConnectsTests {
    /// What happens to one attempt to connect.
    private enum Fate: CaseIterable {
      /// Four of five are made.
      case made
      case cut, hungUpOn, declined, nobodyListens, nobodyThere, cancelledUnderWay, cancelledWhenInvited
    }

    private static func fate(of number: Int) -> Fate {
      let failures = Fate.allCases.dropFirst()
      return number % 5 == 4 ? failures[1 + number / 5 % failures.count] : .made
    }

    @Test(
      "a thousand connects, a fifth refused, unreachable, cancelled or killed midway: each result is right, nothing is left",
      arguments: SuiteTransport.all)
    func inARow(over transport: SuiteTransport) async throws {
      let outside = Holdings.now()
      try await SuiteWorld.run(transport, limit: transport.connectsLimit) { world in
        try await world.pair { pair in
          try await BarePeer.run(0, in: world) { rude in
            try await rude.listen(hangingUp: true)
            try await world.until("it listens") { await !rude.addresses.isEmpty }
            let row = Row(world: world, pair: pair, addresses: try await pair.addresses(), rude: await rude.addresses)
            var wrong: [String] = []
            // The first of each kind open some descriptors for good: the count begins after them.
            for (number, fate) in Fate.allCases.enumerated() {
              if let fault = await row.fault(of: fate, number) { wrong.append("\(fate) at first: \(fault)") }
            }
            try await row.settle()
            // After each link over LE that has come in, an advertisement is taken back and registered anew.
            var readings: [Holdings] = []
            try await world.until("what is held does not change") {
              readings = readings.suffix(2) + [Holdings.now()]
              return readings.count == 3 && Set(readings.map(\.registrations)).count == 1
            }
            let before = try #require(readings.last)
            // What is to be counted does show.
            #expect(before.descriptors > outside.descriptors && before.threads > outside.threads)
            if transport.usesBluetooth, Holdings.countsRegistrations {
              #expect(before.registrations != outside.registrations, "\(before)")
            }
            let clock = ContinuousClock()
            let start = clock.now
            for number in (0..<transport.connects).reversed() {
              let fate = Self.fate(of: number)
              if let fault = await row.fault(of: fate, number) { wrong.append("\(number) \(fate): \(fault)") }
              try Task.checkCancellation()
            }
            print("\(transport.connects) connects over \(transport.name) took \(clock.now - start), beside \(before)")
            #expect(wrong.isEmpty, "\(wrong.count) wrong: \(wrong.prefix(5).joined(separator: "; "))")
            try await row.settle()
            try await world.until("nothing is left of the connects") {
              let after = Holdings.now()
              return after.descriptors <= before.descriptors && after.threads <= before.threads
                && after.registrations == before.registrations
            }
          }
        }
      }
      // The kernel may list a joined thread a moment longer, and the bus a closed connection.
      var after = outside
      try await transport.until("nothing is left of the nodes") {
        after = Holdings.now()
        return after.threads == outside.threads && after.registrations == outside.registrations
      }
      // libdispatch may open up to three for itself at any time.
      #expect(after.descriptors < outside.descriptors + 8, "\(outside); \(after)")
    }

    /// Attempts to connect the same two nodes, one after the other.
    private struct Row {
      let world: SuiteWorld
      let pair: SuitePair
      /// The server's addresses.
      let addresses: [TransportAddress]
      /// Addresses at which links are accepted, and ended at their first byte.
      let rude: [TransportAddress]

      /// - Returns: what was not as it should be.
      func fault(of fate: Fate, _ number: Int) async -> String? {
        do {
          switch fate {
          case .made: return try await made(number)
          case .declined: return try await declined(number)
          case .nobodyListens: return await unreachable(nowhere, [.refused])
          case .nobodyThere: return await unreachable(nobody, [.hostDown, .unreachable, .timedOut, .refused])
          case .cancelledUnderWay: return try await cancelledUnderWay(number)
          case .cancelledWhenInvited: return try await cancelledWhenInvited(number)
          case .hungUpOn: return await hungUpOn()
          case .cut: return try await cut(number)
          }
        } catch {
          // The next attempt must not suffer from it.
          await pair.client.session.disconnectAll()
          return "\(error)"
        }
      }

      /// Waits until there are no invitations and no members.
      func settle() async throws {
        try await world.until("all is over") {
          pair.server.core.invitations.count == 0 && pair.client.session.members.isEmpty
            && pair.server.session.members.isEmpty
        }
      }

      private func dial(
        _ addresses: [TransportAddress], _ number: Int = 0, timeout: Duration? = nil
      ) async throws -> Member {
        try await pair.client.invite(
          at: addresses, context: Array("\(number)".utf8), timeout: timeout ?? world.transport.patience)
      }

      /// The attempt's own invitation. One of an attempt that was cancelled under way may still come first; it is over
      /// then.
      private func invitation(_ number: Int, of inviting: Task<Member, any Error>) async throws -> Invitation {
        while true {
          let invitation = try await pair.invitation(of: inviting)
          if invitation.context == Array("\(number)".utf8) { return invitation }
          let ended = await invitation.ended()
          guard ended?.code == .cancelled else {
            throw SuiteWorld.Failure(description: "a former invitation ended by \(String(describing: ended))")
          }
        }
      }

      private func made(_ number: Int) async throws -> String? {
        let inviting = Task { try await dial(addresses, number) }
        defer { inviting.cancel() }
        let invitation = try await invitation(number, of: inviting)
        return try await accepted(invitation, inviting, number)
      }

      /// They become members, exchange a message and leave.
      private func accepted(
        _ invitation: Invitation, _ inviting: Task<Member, any Error>, _ number: Int
      ) async throws -> String? {
        let onServer = try await invitation.accept()
        let onClient = try await inviting.value
        try await onClient.send([UInt8(truncatingIfNeeded: number)])
        let message = await pair.server.session.messages.first()
        await (number % 2 == 0 ? onClient : onServer).disconnect()
        let ends = (await pair.client.session.nextDeparture(), await pair.server.session.nextDeparture())
        guard message?.bytes == [UInt8(truncatingIfNeeded: number)] else {
          return "got \(String(describing: message?.bytes))"
        }
        return ends.0?.code == .left && ends.1?.code == .left ? nil : "ended by \(ends)"
      }

      private func declined(_ number: Int) async throws -> String? {
        let inviting = Task { try await dial(addresses, number) }
        defer { inviting.cancel() }
        try await invitation(number, of: inviting).decline()
        let error = await failure { try await inviting.value }
        return error?.code == .declined && error?.blame == .peer ? nil : "\(String(describing: error))"
      }

      private func unreachable(_ addresses: [TransportAddress], _ codes: Set<LinkFailure.Code>) async -> String? {
        let timeout = world.transport.kind == .le ? world.transport.shortAttempt : world.transport.patience
        let error = await failure { try await dial(addresses, timeout: timeout) }
        return isOfTransport(error, codes) ? nil : "\(String(describing: error)) \(error?.failures ?? [])"
      }

      /// Whether it is a single failure, of the transport.
      private func isOfTransport(_ error: PiconetError?, _ codes: Set<LinkFailure.Code>) -> Bool {
        // Over LE a controller goes on looking until it is told to stop, which is when our time is up.
        guard error?.code == .unreachable || world.transport.kind == .le && error?.code == .timedOut,
          let one = error?.failures.first, error?.failures.count == 1
        else { return false }
        return one.transport == world.transport.kind && codes.contains(one.failure.code)
      }

      private func cancelledUnderWay(_ number: Int) async throws -> String? {
        var random = SeededRandom(seed: UInt64(number))
        let inviting = Task { try await dial(addresses, number) }
        defer { inviting.cancel() }
        for _ in 0..<random.next() % world.transport.yieldsOfConnect { await Task.yield() }
        return try await cancelled(inviting)
      }

      private func cancelledWhenInvited(_ number: Int) async throws -> String? {
        let inviting = Task { try await dial(addresses, number) }
        defer { inviting.cancel() }
        let invitation = try await invitation(number, of: inviting)
        if let fault = try await cancelled(inviting) { return fault }
        let ended = await invitation.ended()
        return ended?.code == .cancelled && ended?.blame == .peer ? nil : "the invited: \(String(describing: ended))"
      }

      private func cancelled(_ inviting: Task<Member, any Error>) async throws -> String? {
        inviting.cancel()
        let error = await failure { try await inviting.value }
        try await settle()
        return error?.code == .cancelled && error?.blame == .us ? nil : "\(String(describing: error))"
      }

      private func hungUpOn() async -> String? {
        let error = await failure { try await dial(rude) }
        return isOfTransport(error, [.reset]) ? nil : "\(String(describing: error)) \(error?.failures ?? [])"
      }

      private func cut(_ number: Int) async throws -> String? {
        guard world.transport.missingFaults == nil else { return try await declined(number) }
        var relay: Relay?
        var way = addresses
        if world.transport.kind == .tcp, let port = addresses[0].text.split(separator: ":").last.flatMap({ UInt16($0) })
        {
          let own = try Relay(to: port)
          way = [TransportAddress(kind: .tcp, text: own.address)]
          relay = own
        }
        defer { relay?.close() }
        let inviting = Task { try await dial(way, number) }
        defer { inviting.cancel() }
        let invitation = try await invitation(number, of: inviting)
        relay?.cut()
        try await world.cut()
        // What has begun outlives its link: the invitation goes on over the next one.
        return try await accepted(invitation, inviting, number)
      }

      /// Addresses of the server's device at which no node listens.
      private var nowhere: [TransportAddress] { elsewhere(tcp: "127.0.0.1:1", device: nil) }

      /// Addresses of a device that does not exist; the loopback interface has no link-local address (RFC 4291, 2.5.6).
      private var nobody: [TransportAddress] { elsewhere(tcp: "[fe80::1%lo]:9", device: "00:11:22:33:44:55") }

      private func elsewhere(tcp: String, device: String?) -> [TransportAddress] {
        let kind = world.transport.kind
        switch kind {
        case .simulated: return [TransportAddress(kind: kind, text: MemoryTransport.text(60_000))]
        case .tcp: return [TransportAddress(kind: kind, text: tcp)]
        default:
          let known = addresses[0].text.split(separator: "/").first.map(String.init) ?? ""
          let port = kind == .rfcomm ? "29" : kind == .le ? "0x00f1" : "0x1077"
          return [TransportAddress(kind: kind, text: "\(device ?? known)/\(port)")]
        }
      }
    }
  }
}

extension SuiteTransport {
  /// How many attempts are in a row: over Bluetooth a thousand take minutes on an emulated processor.
  fileprivate var connects: Int { usesBluetooth && !isLongRun ? kind == .l2cap ? 100 : 50 : 1_000 }
  fileprivate var connectsLimit: Duration { .seconds(usesBluetooth && !isLongRun ? 300 : 1_700) }

  /// How often a task yields during one attempt to connect, or more often.
  fileprivate var yieldsOfConnect: UInt64 { usesBluetooth ? 20_000 : 5_000 }
}
