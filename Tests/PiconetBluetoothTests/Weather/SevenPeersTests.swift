import PiconetEngine
import PiconetSDP
import Testing

@testable import PiconetBluetooth

extension BluetoothTransportTests {
  /// A piconet has seven active members beside the one that leads it.
  @Suite(
    .enabled(
      if: VirtualAdapters.hasFaults && VirtualAdapters.names.count >= 9,
      "needs nine emulated adapters: Tools/bluetooth-vm -n 9")
  ) struct SevenPeersTests {
    @Test func theEighthIsRefusedWithAReasonAndTheSevenStay() async throws {
      try VirtualAdapters.makeReachable(9)
      try await withNet(.l2cap, { $0.dial.busyRetries = 1 }) { net in
        var pairs: [(dialled: AnyLink, accepted: AnyLink)] = []
        for index in 1...7 {
          let address = try await net.listen(alsoOn: index)
          pairs.append((try await net.dial(address).get(), await net.nextAccepted()))
        }
        let eighth = try await net.listen(alsoOn: 8)
        // As a controller answers that has all its links taken.
        try VirtualAdapters.fault("refuse", VirtualAdapters.number(8), "9")
        let result = await net.dial(eighth)
        try VirtualAdapters.fault("accept", VirtualAdapters.number(8))
        guard case .failure(let failure) = result else {
          Issue.record("connected")
          return
        }
        #expect(failure.code == .connectionLimit && failure.detail.contains("7 active links"), "\(failure)")
        for (number, pair) in pairs.enumerated() {
          _ = await Pump.run(pair.dialled, net.loop, writing: [UInt8(number)], wanted: 0)
          #expect(await Pump.run(pair.accepted, net.loop, wanted: 1).bytes == [UInt8(number)])
        }
      }
    }
  }
}
