/// The payload that fills whole packets on the air.
///
/// The largest packet of BR/EDR, 3-DH5, carries 1021 bytes (Core 5.4, Vol 2 Part B 6.5.4.2), 4 of which are L2CAP's
/// header at the start of each SDU in basic mode. A packet that isn't full still takes up to its five slots.
public enum PacketArithmetic {
  /// The number of bytes in one 3-DH5 packet.
  public static let largestPacket = 1021
  /// L2CAP's header: length and channel, once per SDU.
  public static let basicHeader = 4
  /// The payload of an RFCOMM frame that fits into one packet with any kernel: its L2CAP MTU of 1013 (1021 with Linux
  /// 6.12) less five bytes of header, credit and check sum.
  public static let rfcommFrame = 1008

  /// The incoming MTU that we ask for: 32 packets as one SDU.
  public static let incomingMTU = 32 * largestPacket - basicHeader

  /// Returns the most bytes, not above `mtu`, that fill whole packets as one SDU; `mtu` itself if that is less than one
  /// packet.
  public static func largestWrite(mtu: Int) -> Int {
    let packets = (mtu + basicHeader) / largestPacket
    return packets == 0 ? max(mtu, 1) : packets * largestPacket - basicHeader
  }
}
