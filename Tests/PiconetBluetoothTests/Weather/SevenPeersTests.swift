import PiconetEngine
import PiconetSDP
import TestSupport
import Testing

@testable import PiconetBluetooth

extension BluetoothTransportTests {
  /// A piconet has seven active members besides its central.
  @Suite(.machine("--adapters 9 --no-daemon")) struct SevenPeersTests {
    @Test func theEighthIsRefusedWithAReasonAndTheSevenStay() async throws {
      try await withSevenLinks { net, pairs in
        let failure = failure(of: await net.dial(try await net.listen(alsoOn: 8)))
        #expect(
          failure?.code == .connectionLimit && failure?.detail.contains("7 active links") == true,
          "\(String(describing: failure))")
        try await stay(pairs, on: net)
      }
    }

    @Test func whoDialsAnAdapterWithSevenLinksIsRefusedAndTheSevenStay() async throws {
      try await withSevenLinks { net, pairs in
        let failure = failure(of: await net.dial(try await net.listen(alsoOn: 0), from: 8))
        // Linux reports a rejection for want of resources like any other one.
        #expect(failure?.code == .refused, "\(String(describing: failure))")
        try await stay(pairs, on: net)
      }
    }

    private func failure(of result: Result<AnyLink, LinkFailure>) -> LinkFailure? {
      if case .failure(let failure) = result { failure } else { nil }
    }

    private typealias Pair = (dialled: AnyLink, accepted: AnyLink)

    /// Makes links from the first adapter to each of the next seven.
    private func withSevenLinks(_ body: (BluetoothNet, [Pair]) async throws -> Void) async throws {
      try VirtualAdapters.makeReachable(9)
      try await withNet(.l2cap, { $0.dial.busyRetries = 1 }) { net in
        var pairs: [Pair] = []
        for index in 1...7 {
          let address = try await net.listen(alsoOn: index)
          pairs.append((try await net.dial(address).get(), await net.nextAccepted()))
        }
        try await body(net, pairs)
      }
    }

    private func stay(_ pairs: [Pair], on net: BluetoothNet) async throws {
      for (number, pair) in pairs.enumerated() {
        _ = await Pump.run(pair.dialled, net.loop, writing: [UInt8(number)], wanted: 0)
        #expect(await Pump.run(pair.accepted, net.loop, wanted: 1).bytes == [UInt8(number)])
      }
    }
  }
}
