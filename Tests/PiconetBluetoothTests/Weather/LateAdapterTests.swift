import PiconetEngine
import PiconetSDP
import Testing

@testable import PiconetBluetooth

extension BluetoothTransportTests {
  /// An adapter that is named, and comes later than its listener.
  @Suite(.enabled(if: VirtualAdapters.hasFaults, VirtualAdapters.faultReason)) struct LateAdapterTests {
    @Test(arguments: SocketKind.allCases) func aListenerHearsThatItsAdapterHasCome(_ kind: SocketKind) async throws {
      try VirtualAdapters.unplug(1)
      let (news, continuation) = AsyncStream.makeStream(of: Void.self)
      try await withNet(kind) { net in
        await #expect(throws: LinkFailure.self) { try await net.listen() }
        await net.perform { net in net.listener.setListeningHandler { continuation.yield() } }
        try await VirtualAdapters.plugIn(1)
        var address: TransportAddress?
        for await _ in news {
          address = try? await net.listen()
          if address != nil { break }
        }
        #expect(
          address?.text.hasPrefix(try VirtualAdapters.device(1).description) == true, "\(String(describing: address))")
        try VirtualAdapters.makeReachable()
        let (dialled, accepted) = try await net.pair()
        _ = await Pump.run(dialled, net.loop, writing: [1], wanted: 0)
        #expect(await Pump.run(accepted, net.loop, wanted: 1).bytes == [1])
      }
    }
  }
}
