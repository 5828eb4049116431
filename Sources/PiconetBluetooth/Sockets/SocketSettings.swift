/// What a Bluetooth socket is asked for before it is connected or listens.
public struct SocketSettings: Sendable, Hashable {
  /// How L2CAP over BR/EDR carries SDUs.
  public enum Mode: Sendable, Hashable {
    /// As they are. No flow control: what comes while the receive buffer is full is lost, and the link with it. With
    /// Linux's limits of it that is about 300 KB, so whoever sends more has to wait for the reader.
    case basic
    /// Enhanced retransmission mode: in pieces with sequence numbers, acknowledged, with flow control; about a tenth
    /// slower.
    case enhancedRetransmission
  }

  public var mode = Mode.basic
  /// The largest SDU that we take. The remote side may have a larger or smaller one.
  public var incomingMTU = UInt16(PacketArithmetic.incomingMTU)
  /// The same for LE. Linux grants credits for what the receive buffer holds less a header of 232 bytes for every 247,
  /// also in the middle of an SDU: one that is longer than that never arrives whole. 425,984 bytes hold 25,784, the
  /// usual 212,992 half.
  public var incomingLowEnergyMTU: UInt16 = 4096
  /// Whether the link has to be paired and encrypted by BlueZ (BT_SECURITY_MEDIUM); otherwise it need not (LOW).
  public var requiresPairing = false
  /// The bytes that the kernel keeps for us until we read them, overhead included; the system's limit
  /// (net.core.rmem_max) cuts it.
  public var receiveBuffer: Int32 = 1 << 20

  public init() {}
}
