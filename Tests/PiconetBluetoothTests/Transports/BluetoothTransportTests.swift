import PiconetEngine
import PiconetRuntime
import PiconetSDP
import TestSupport
import Testing

@testable import PiconetBluetooth

/// The transports between two adapters, one after the other: they share the adapters.
@Suite(.serialized, .machine("--adapters 2", alone: true, or: .realAdapters)) struct BluetoothTransportTests {
  static let kinds = SocketKind.allCases
  /// The kinds without LE, for tests about paging, much data, or one connection after another.
  static let classic = [SocketKind.l2cap, .rfcomm]

  @Test(arguments: classic) func bytesOfManySizesComeBackWhole(_ kind: SocketKind) async throws {
    try await withNet(kind) { net in
      let (dialled, accepted) = try await net.pair()
      for count in [1, 2, 47, 671, 672, 1016, 1017, 1018, 2038, 8164, 16_000, 32_667, 32_668, 32_669, 65_536, 300_000] {
        let bytes = someBytes(count, seed: UInt64(count))
        async let there = Pump.run(accepted, net.loop, wanted: count)
        async let sent = Pump.run(dialled, net.loop, writing: bytes, wanted: 0)
        _ = await sent
        let came = await there.bytes
        #expect(Same(came, bytes).isSo, "\(count) bytes there, \(came.count) came")
        async let back = Pump.run(dialled, net.loop, wanted: count)
        _ = await Pump.run(accepted, net.loop, writing: bytes, wanted: 0)
        let returned = await back.bytes
        #expect(Same(returned, bytes).isSo, "\(count) bytes back, \(returned.count) came")
      }
    }
  }

  @Test(arguments: kinds) func aSmallReadLosesNothingOfAnSDU(_ kind: SocketKind) async throws {
    try await withNet(kind) { net in
      let (dialled, accepted) = try await net.pair()
      let bytes = someBytes(20_000)
      async let there = Pump.run(accepted, net.loop, wanted: bytes.count, bufferSize: 77)
      _ = await Pump.run(dialled, net.loop, writing: bytes, wanted: 0)
      #expect(Same(await there.bytes, bytes).isSo)
    }
  }

  @Test(arguments: classic) func bothDirectionsGoAtOnce(_ kind: SocketKind) async throws {
    try await withNet(kind) { net in
      let (dialled, accepted) = try await net.pair()
      let (one, other) = (someBytes(1_000_000, seed: 2), someBytes(1_000_000, seed: 3))
      async let there = Pump.run(accepted, net.loop, writing: other, wanted: one.count)
      let back = await Pump.run(dialled, net.loop, writing: one, wanted: other.count)
      #expect(Same(await there.bytes, one).isSo)
      #expect(Same(back.bytes, other).isSo)
    }
  }

  @Test(arguments: classic) func anOrderlyCloseDeliversTheLastByte(_ kind: SocketKind) async throws {
    try await withNet(kind) { net in
      for seed in 1...3 {
        let (dialled, accepted) = try await net.pair()
        let bytes = someBytes(300_000, seed: UInt64(seed))
        async let there = Pump.run(accepted, net.loop, wanted: .max)
        _ = await Pump.run(dialled, net.loop, writing: bytes, wanted: 0) { $0.close(abort: false) }
        let outcome = await there
        #expect(Same(outcome.bytes, bytes).isSo, "\(outcome.bytes.count) bytes")
        #expect(outcome.end == .end)
        await net.close(accepted)
      }
    }
  }

  @Test(arguments: kinds) func whatNobodyListensForIsRefused(_ kind: SocketKind) async throws {
    try await withNet(kind) { net in
      let device = try VirtualAdapters.device(1)
      let port: UInt16 = kind == .rfcomm ? 29 : kind == .l2cap ? 0x1077 : 0xF7
      let place = BluetoothPlace(device: device, port: port)
      let result = await net.dial(TransportAddress(kind: kind.transport, text: place.description))
      guard case .failure(let failure) = result else {
        Issue.record("connected")
        return
      }
      #expect(failure.code == .refused, "\(failure)")
      #expect(failure.detail.contains(place.description))
    }
  }

  @Test(arguments: classic) func aDeviceThatIsNotThereIsDown(_ kind: SocketKind) async throws {
    try await withNet(kind, { $0.dial.timeLimit = .seconds(9) }) { net in
      let place = BluetoothPlace(
        device: BluetoothAddress(rawValue: 0x0011_2233_4455), port: kind == .l2cap ? 0x1001 : 5)
      let result = await net.dial(TransportAddress(kind: kind.transport, text: place.description))
      guard case .failure(let failure) = result else {
        Issue.record("connected")
        return
      }
      #expect(failure.code == .hostDown, "\(failure)")
    }
  }

  @Test(arguments: classic) func severalPlacesAreTriedInTurn(_ kind: SocketKind) async throws {
    // After it has paged a device that is not there, the kernel may hold the next connect back for its own 20 s.
    try await withNet(kind, { $0.dial.timeLimit = .seconds(50) }) { net in
      let address = try await net.listen()
      let device = try VirtualAdapters.device(1)
      let wrong = BluetoothPlace(device: device, port: kind == .rfcomm ? 29 : kind == .l2cap ? 0x1077 : 0xF7)
      let result = await net.dial(TransportAddress(kind: kind.transport, text: wrong.description), address)
      #expect(throws: Never.self) { try result.get() }
    }
  }

  /// Two devices have one connection to an RFCOMM channel at a time.
  @Test func aChannelInUseIsBusyAndIsDialledAgainUntilItIsFree() async throws {
    try await withNet(.rfcomm, { $0.dial.busyRetries = 1 }) { net in
      let (dialled, accepted) = try await net.pair()
      let address = try #require(await net.perform { $0.listener.listeningAddresses.first })
      guard case .failure(let failure) = await net.dial(address) else {
        Issue.record("a second connection")
        return
      }
      #expect(failure.code == .busy, "\(failure)")
      for link in [dialled, accepted] { await net.close(link) }
    }
    try await withNet(.rfcomm, { $0.dial.busyRetries = 50 }) { net in
      let (dialled, accepted) = try await net.pair()
      let second = await net.beginDial(try #require(await net.perform { $0.listener.listeningAddresses.first }))
      for link in [dialled, accepted] { await net.close(link) }
      let result = await second.result
      #expect(throws: Never.self) { try result.get() }
    }
  }

  @Test(arguments: classic) func aDialThatIsCancelledEndsOnceAsCancelled(_ kind: SocketKind) async throws {
    try await withNet(kind) { net in
      let address = try await net.listen()
      let nowhere = BluetoothPlace(device: BluetoothAddress(rawValue: 0x0011_2233_4455), port: 5).description
      for text in [address.text, nowhere.replacing("/5", with: kind == .l2cap ? "/0x1001" : "/5")] {
        for rounds in 0..<4 {
          // Over a link that is up, a dial may get through before the cancel comes; after the cancel only `cancelled`
          // will do.
          let code: LinkFailure.Code? = await withCheckedContinuation { continuation in
            net.loop.execute {
              let isCancelled = Flag()
              let dial = net.dialler.dial([TransportAddress(kind: kind.transport, text: text)]) { result in
                switch result {
                case .failure(let failure): continuation.resume(returning: isCancelled.value ? failure.code : nil)
                case .success(let link):
                  link.close(abort: true)
                  continuation.resume(returning: isCancelled.value ? .other : nil)
                }
              }
              cancel(dial, isCancelled, after: rounds, net.loop)
            }
          }
          #expect(code == .cancelled || (code == nil && rounds > 0))
        }
      }
    }
  }

  // The session suite shows as much over each transport.
  @Test(.enabled(if: isLongRun, "takes a minute: PICONET_SLOW_TESTS=1"), arguments: classic)
  func aHundredConnectsLeaveNoDescriptor(_ kind: SocketKind) async throws {
    try await withNet(kind) { net in
      let first = try await net.pair()
      let before = descriptorCount()
      let clock = ContinuousClock()
      var times: [Duration] = []
      for _ in 0..<100 {
        // RFCOMM takes one connection to a channel at a time.
        if kind == .rfcomm, times.isEmpty {
          await net.close(first.dialled)
          await net.close(first.accepted)
        }
        let start = clock.now
        let (dialled, accepted) = try await net.pair()
        times.append(clock.now - start)
        await net.close(dialled)
        #expect(await Pump.run(accepted, net.loop, wanted: .max).end == .end)
        await net.close(accepted)
      }
      times.sort()
      print("connect \(kind): median \(times[50]), 95 % \(times[95])")
      #expect(descriptorCount() <= before)
    }
  }

  // The session suite shows as much over each transport.
  @Test(.enabled(if: isLongRun, "takes a minute: PICONET_SLOW_TESTS=1"), arguments: classic)
  func throughput(_ kind: SocketKind) async throws {
    try await withNet(kind) { net in
      let (dialled, accepted) = try await net.pair()
      let bytes = someBytes(4 << 20)
      let start = ContinuousClock().now
      async let there = Pump.run(accepted, net.loop, wanted: bytes.count)
      _ = await Pump.run(dialled, net.loop, writing: bytes, wanted: 0)
      let outcome = await there
      let time = ContinuousClock().now - start
      print(
        "throughput \(kind): \(Double(bytes.count) / (Double(time.wholeNanoseconds) / 1e9) / 1e6) MB/s, \(outcome.reads) reads"
      )
      #expect(Same(outcome.bytes, bytes).isSo)
    }
  }
}

/// Cancels after so many turns of the loop's queue; the loop looks at no descriptor in between.
private func cancel(_ dial: any DialCancellation, _ isCancelled: Flag, after turns: Int, _ loop: EventLoop) {
  if turns > 0 { return loop.executeLater { cancel(dial, isCancelled, after: turns - 1, loop) } }
  isCancelled.value = true
  dial.cancel()
}

private final class Flag {
  var value = false
}
