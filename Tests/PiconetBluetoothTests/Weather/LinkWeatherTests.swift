import CPiconetBluetooth
import PiconetEngine
import PiconetRuntime
import PiconetSDP
import TestSupport
import Testing

@testable import PiconetBluetooth

extension BluetoothTransportTests {
  /// What transports make of bad weather between two adapters: out of range, unplugged, switched off, busy.
  @Suite(.enabled(if: VirtualAdapters.hasFaults, VirtualAdapters.faultReason)) struct LinkWeatherTests {
    @Test(arguments: BluetoothTransportTests.classic) func aPeerOutOfRangeIsNotReachedAndIsAgainWhenItIsBack(
      _ kind: SocketKind
    )
      async throws
    {
      try await withWeather(kind, { $0.dial.timeLimit = .seconds(4) }) { net in
        let address = try await net.listen()
        try VirtualAdapters.mute()
        try VirtualAdapters.fault("cut", VirtualAdapters.number(0), VirtualAdapters.number(1))
        try await linksBecome { $0 == 0 }
        let failure = failure(of: await net.dial(address))
        #expect(failure?.code == (kind == .le ? .timedOut : .hostDown), "\(String(describing: failure))")
        try VirtualAdapters.unmute()
        try VirtualAdapters.makeReachable()
        _ = try await net.pair()
      }
    }

    @Test(arguments: BluetoothTransportTests.classic) func aSilentPeerIsLostWithTheSupervisionTimeout(
      _ kind: SocketKind
    )
      async throws
    {
      try await withWeather(kind) { net in
        let (dialled, accepted) = try await net.pair()
        async let near = Pump.run(dialled, net.loop, wanted: .max, limit: .seconds(20))
        async let far = Pump.run(accepted, net.loop, wanted: .max, limit: .seconds(20))
        let start = ContinuousClock().now
        try VirtualAdapters.mute()
        let ends = (await near.end, await far.end)
        print("silent \(kind): noticed after \(ContinuousClock().now - start), the supervision timeout is 2 s")
        #expect(code(of: ends.0) == .timedOut, "\(String(describing: ends.0))")
        #expect(code(of: ends.1) == .timedOut, "\(String(describing: ends.1))")
      }
    }

    @Test(arguments: [SocketKind.l2cap, .le]) func aDialGivenUpOverASilentLinkIsNoObstacleToTheNext(
      _ kind: SocketKind
    ) async throws {
      try await withWeather(kind, { $0.dial.timeLimit = .seconds(4) }) { net in
        try VirtualAdapters.fault("supervision", "60000")
        _ = try await net.pair()
        let address = try #require(await net.perform { $0.listener.listeningAddresses.first })
        try VirtualAdapters.mute()
        #expect(failure(of: await net.dialAndCancel(address))?.code == .cancelled)
        // Longer than the wait for an answer without a link.
        let absent = BluetoothPlace(
          device: BluetoothAddress(rawValue: 0x0011_2233_4455), port: kind == .le ? 0x80 : 0x1001)
        for _ in 0..<2 {
          let place = TransportAddress(kind: kind.transport, text: absent.description)
          #expect(self.failure(of: await net.dial(place)) != nil)
        }
        try VirtualAdapters.unmute()
        // bluetoothd may have removed the device that it can't reach, and the link with it: over LE the next link needs
        // an advertisement.
        try VirtualAdapters.makeReachable()
        let failure = self.failure(of: await net.dial(address))
        #expect(failure == nil, "\(String(describing: failure))\n\(VirtualAdapters.state())")
      }
    }

    @Test(arguments: BluetoothTransportTests.classic) func aLinkCutInTheMiddleOfBytesFailsOnBothSides(
      _ kind: SocketKind
    )
      async throws
    {
      try await withWeather(kind) { net in
        let (dialled, accepted) = try await net.pair()
        let bytes = someBytes(4_000_000)
        async let near = Pump.run(dialled, net.loop, writing: bytes, wanted: .max, limit: .seconds(20))
        let begun = await Pump.run(accepted, net.loop, wanted: 50_000)
        #expect(begun.bytes.count == 50_000)
        async let far = Pump.run(accepted, net.loop, wanted: .max, limit: .seconds(20))
        try VirtualAdapters.fault("cut", VirtualAdapters.number(0), VirtualAdapters.number(1))
        let ends = (await near.end, await far)
        #expect(code(of: ends.0) == .timedOut, "\(String(describing: ends.0))")
        #expect(code(of: ends.1.end) == .timedOut, "\(String(describing: ends.1.end))")
        // What came is the beginning of what was sent.
        let came = begun.bytes + ends.1.bytes
        #expect(Same(came, Array(bytes.prefix(came.count))).isSo)
      }
    }

    @Test(arguments: BluetoothTransportTests.classic) func anUnpluggedAdapterEndsTheLinkAndServesAgainWhenItIsBack(
      _ kind: SocketKind
    ) async throws {
      try await withWeather(kind) { net in
        let (dialled, accepted) = try await net.pair()
        let address = try #require(await net.perform { $0.listener.listeningAddresses.first })
        async let near = Pump.run(dialled, net.loop, wanted: .max, limit: .seconds(20))
        async let far = Pump.run(accepted, net.loop, wanted: .max, limit: .seconds(20))
        try VirtualAdapters.unplug(1)
        let ends = (await near.end, await far.end)
        #expect(code(of: ends.0) == .timedOut, "the other side: \(String(describing: ends.0))")
        #expect(code(of: ends.1) == .reset, "its own side: \(String(describing: ends.1))")
        let meanwhile = failure(of: await net.dial(address))
        #expect(meanwhile?.code == (kind == .le ? .timedOut : .hostDown), "\(String(describing: meanwhile))")
        // While a socket of the adapter is open the kernel keeps its number, and gives it another one when it is back.
        await net.close(dialled)
        await net.close(accepted)
        try await VirtualAdapters.plugIn(1)
        try VirtualAdapters.makeReachable()
        _ = try await net.pair()
      }
    }

    @Test func anAdapterWithAllItsLinksTakenSaysSo() async throws {
      try await withWeather(.l2cap, { $0.dial.busyRetries = 2 }) { net in
        let address = try await net.listen()
        // Connection limit exceeded: Core 5.4, Vol 1 Part F 2.9.
        try VirtualAdapters.fault("refuse", VirtualAdapters.number(1), "9")
        // Over a link that the kernel still has, a dial would get through.
        try VirtualAdapters.fault("cut", VirtualAdapters.number(0), VirtualAdapters.number(1))
        try await linksBecome { $0 == 0 }
        let failure = failure(of: await net.dial(address))
        try VirtualAdapters.fault("accept", VirtualAdapters.number(1))
        #expect(failure?.code == .connectionLimit, "\(String(describing: failure))")
        #expect(failure?.detail.contains("7 active links") == true, "\(String(describing: failure))")
        _ = try await net.pair()
      }
    }

    /// The link between the adapters is there already, and stays when ours ends.
    @Test(arguments: BluetoothTransportTests.classic) func anotherProgramsConnectionToThePeerIsNoObstacle(
      _ kind: SocketKind
    ) async throws {
      try await withWeather(.l2cap) { others in
        let (theirs, theirPeer) = try await others.pair()
        try await withNet(kind) { net in
          for _ in 0..<3 {
            let (dialled, accepted) = try await net.pair()
            _ = await Pump.run(dialled, net.loop, writing: [1, 2, 3], wanted: 0)
            #expect(await Pump.run(accepted, net.loop, wanted: 3).bytes == [1, 2, 3])
            await net.close(dialled)
            #expect(await Pump.run(accepted, net.loop, wanted: .max).end == .end)
            await net.close(accepted)
          }
        }
        _ = await Pump.run(theirs, others.loop, writing: [4], wanted: 0)
        #expect(await Pump.run(theirPeer, others.loop, wanted: 1).bytes == [4])
      }
    }

    @Test(arguments: BluetoothTransportTests.classic) func connectsInARowOfWhichAFifthFailLeaveNothing(
      _ kind: SocketKind
    ) async throws {
      try await withWeather(kind, { $0.dial.timeLimit = .seconds(5) }) { net in
        let address = try await net.listen()
        try VirtualAdapters.fault("paging", "100")
        // Keeps the link between the adapters up, as a session would.
        var kept = try await net.pair()
        if kind == .rfcomm {
          await net.close(kept.dialled)
          await net.close(kept.accepted)
        }
        let before = (descriptors: descriptorCount(), watches: await net.perform { $0.loop.watchCount })
        var wrong: [String] = []
        // The last one is good.
        let count = isLongRun ? 500 : 150
        for index in (0..<count).reversed() {
          switch (index % 5, index % 3) {
          case (4, 0):
            let place = BluetoothPlace(device: try VirtualAdapters.device(1), port: kind == .rfcomm ? 29 : 0x1077)
            let code = failure(of: await net.dial(TransportAddress(kind: kind.transport, text: place.description)))?
              .code
            if code != .refused { wrong.append("\(index) nobody listens: \(String(describing: code))") }
          case (4, 1):
            let code = failure(of: await net.dialAndCancel(address))?.code
            if code != .cancelled { wrong.append("\(index) cancelled: \(String(describing: code))") }
          case (4, _):
            let place = BluetoothPlace(
              device: BluetoothAddress(rawValue: 0x0011_2233_4455), port: kind == .rfcomm ? 5 : 0x1001)
            let code = failure(of: await net.dial(TransportAddress(kind: kind.transport, text: place.description)))?
              .code
            if code != .hostDown { wrong.append("\(index) nobody there: \(String(describing: code))") }
          default:
            switch await net.dial(address) {
            case .failure(let failure): wrong.append("\(index): \(failure)")
            case .success(let dialled):
              let accepted = await net.nextLiving()
              await net.close(dialled)
              let end = await Pump.run(accepted, net.loop, wanted: .max, limit: .seconds(10)).end
              if end != .end { wrong.append("\(index) ended by \(String(describing: end))") }
              await net.close(accepted)
            }
          }
        }
        #expect(wrong.isEmpty, "\(wrong.count) of \(count): \(wrong.prefix(5).joined(separator: "; "))")
        await net.closeAccepted()
        #expect(descriptorCount() <= before.descriptors)
        #expect(await net.perform { $0.loop.watchCount } <= before.watches)
        if kind == .rfcomm { kept = try await net.pair() }
        _ = await Pump.run(kept.dialled, net.loop, writing: [5], wanted: 0)
        #expect(await Pump.run(kept.accepted, net.loop, wanted: 1).bytes == [5])
      }
    }

    /// Two that connect to each other over LE at the same time: Linux forgets the attempt of the slower one.
    @Test(arguments: [false, true]) func aConnectOverLEIsNotStrandedByTheOneThatComesIn(isCancelled: Bool) async throws
    {
      try await withWeather(.le) { net in
        let address = try await net.listen()
        defer { try? VirtualAdapters.advertise(VirtualAdapters.names[0], ends: true) }
        try VirtualAdapters.advertise(VirtualAdapters.names[1], ends: true)
        try VirtualAdapters.fault("cut", VirtualAdapters.number(0), VirtualAdapters.number(1))
        try await linksBecome { $0 == 0 }
        let first = await net.beginDial(address)
        // We can't reach the peer that way, but it reaches us.
        try await linksBecome { $0 & piconet_link_le_pending.rawValue != 0 }
        let calling = Task { try await callAgain() }
        defer { calling.cancel() }
        var dial = first
        if isCancelled {
          try await linksBecome { $0 & piconet_link_le.rawValue != 0 }
          first.cancel()
          #expect(failure(of: await first.result)?.code == .cancelled)
          dial = await net.beginDial(address)
        }
        let failure = failure(of: await dial.result)
        calling.cancel()
        #expect(failure == nil, "\(String(describing: failure))\n\(VirtualAdapters.state())")
        if case .failure(let error) = await calling.result { #expect(error is CancellationError) }
      }
    }

    /// The peer calls us, and again as long as no link has come of its calls, or Linux has ended its link after 2 s
    /// without use: on a slow machine the dial may need longer.
    private func callAgain() async throws {
      while true {
        if try links() == piconet_link_le_pending.rawValue {
          try VirtualAdapters.advertise(VirtualAdapters.names[0])
          try VirtualAdapters.connectLE(from: 1, to: 0)
        }
        // Only the kernel's list shows the end of a link here.
        try Task.checkCancellation()
        await Task.yield()
      }
    }

    /// Runs a test with timeouts that it can afford to wait for, and makes the weather good afterwards.
    private func withWeather(
      _ kind: SocketKind, _ change: (inout BluetoothTransportConfiguration) -> Void = { _ in },
      _ body: (BluetoothNet) async throws -> Void
    ) async throws {
      try VirtualAdapters.fault("supervision", "2000")
      try VirtualAdapters.fault("paging", "1000")
      let result: Result<Void, any Error>
      do { result = .success(try await withNet(kind, change, body)) } catch { result = .failure(error) }
      try VirtualAdapters.unmute()
      try VirtualAdapters.fault("accept", VirtualAdapters.number(1))
      try VirtualAdapters.fault("supervision", "20000")
      try VirtualAdapters.fault("paging", "5120")
      try result.get()
    }

    /// Waits until the kinds of links from the first adapter to the second are the wanted ones.
    private func linksBecome(_ areWanted: (UInt32) -> Bool) async throws {
      let clock = ContinuousClock()
      let deadline = clock.now + .seconds(10)
      while !areWanted(try links()) {
        try #require(clock.now < deadline, "\(VirtualAdapters.state())")
        await Task.yield()
      }
    }

    private func links() throws -> UInt32 {
      UInt32(piconet_links(try #require(UInt16(VirtualAdapters.number(0))), try VirtualAdapters.device(1).rawValue))
    }

    private func failure(of result: Result<AnyLink, LinkFailure>) -> LinkFailure? {
      if case .failure(let failure) = result { failure } else { nil }
    }

    private func code(of end: LinkRead?) -> LinkFailure.Code? {
      if case .failed(let failure)? = end { failure.code } else { nil }
    }
  }
}
