import Testing

@testable import PiconetBluetooth

extension BluetoothTransportTests {
  /// A 3-DH5 packet carries 1,021 bytes and takes five slots, full or not; one byte more takes another packet.
  @Suite(.enabled(if: VirtualAdapters.hasFaults, VirtualAdapters.faultReason)) struct PacketFillingTests {
    private static let size = 1 << 20

    /// The size of a full packet, and the number of all bytes with their headers.
    private static func predicted(_ kind: SocketKind) -> (full: Int, bytes: Int) {
      if kind == .rfcomm {
        // Address, control, two bytes of length, check; L2CAP's header.
        let frames = (size + PacketArithmetic.rfcommFrame - 1) / PacketArithmetic.rfcommFrame
        let added = 5 + PacketArithmetic.basicHeader
        return (PacketArithmetic.rfcommFrame + added, size + frames * added)
      }
      let units = (size + PacketArithmetic.incomingMTU - 1) / PacketArithmetic.incomingMTU
      return (PacketArithmetic.largestPacket, size + units * PacketArithmetic.basicHeader)
    }

    @Test("much data goes in whole packets of the largest kind", arguments: BluetoothTransportTests.classic)
    func wholePackets(_ kind: SocketKind) async throws {
      try await withNet(kind) { net in
        let (dialled, accepted) = try await net.pair()
        let bytes = someBytes(Self.size)
        _ = try SentPackets.take(from: 0, to: 1)
        async let there = Pump.run(accepted, net.loop, wanted: bytes.count)
        _ = await Pump.run(dialled, net.loop, writing: bytes, wanted: 0)
        let came = await there.bytes
        #expect(Same(came, bytes).isSo)
        let sent = try SentPackets.take(from: 0, to: 1)
        print("\(kind): \(sent); \(sent.bytes) bytes, \(sent.slots) slots for \(bytes.count) bytes")
        let (full, predicted) = Self.predicted(kind)
        #expect(sent.largest <= PacketArithmetic.largestPacket, "\(sent)")
        #expect(sent.number(ofAtLeast: full) * 100 >= sent.number * 95, "\(sent)")
        // Credit comes on top, and what bluetoothd asks everybody that connects.
        #expect(
          sent.bytes >= predicted && sent.bytes * 1000 <= predicted * 1005,
          "\(sent.bytes) bytes, \(predicted) predicted")
        let slots = (bytes.count + full - 1) / full * 6
        #expect(sent.slots * 100 <= slots * 103, "\(sent.slots) slots, \(slots) predicted")
      }
    }
  }
}
