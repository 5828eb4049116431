import Testing

@testable import PiconetBluetooth

@Suite struct PacketArithmeticTests {
  @Test(arguments: [
    (1017, 1017), (1018, 1017), (2037, 1017), (2038, 2038), (8164, 8164), (9000, 8164), (32_668, 32_668),
    (33_000, 32_668), (65_535, 65_340),
  ])
  func aWriteFillsWholePackets(mtu: Int, largest: Int) {
    #expect(PacketArithmetic.largestWrite(mtu: mtu) == largest)
    #expect((largest + PacketArithmetic.basicHeader) % PacketArithmetic.largestPacket == 0)
  }

  @Test(arguments: [48, 672, 1016]) func whatIsLessThanAPacketIsWrittenWhole(mtu: Int) {
    #expect(PacketArithmetic.largestWrite(mtu: mtu) == mtu)
  }

  @Test func aWriteIsNeverEmpty() { #expect(PacketArithmetic.largestWrite(mtu: 0) == 1) }

  @Test func theMTUThatWeAskForFillsWholePackets() {
    #expect(PacketArithmetic.incomingMTU == 32_668)
    #expect(PacketArithmetic.largestWrite(mtu: PacketArithmetic.incomingMTU) == 32_668)
  }

  @Test func anRFCOMMFrameFitsIntoAPacket() {
    // RFCOMM puts five bytes around it, and L2CAP four in front of that.
    #expect(PacketArithmetic.rfcommFrame + 5 + PacketArithmetic.basicHeader <= PacketArithmetic.largestPacket)
  }
}
