/// The settings of a Bluetooth socket before it is connected or listens.
public struct SocketSettings: Sendable, Hashable {
  /// How L2CAP over BR/EDR carries SDUs.
  public enum Mode: Sendable, Hashable {
    /// Unchanged SDUs without flow control: data that comes while the receive buffer is full is lost, and the link with
    /// it. With Linux's limits the buffer holds about 300 KB, so a sender of more has to wait for the reader.
    case basic
    /// Enhanced retransmission mode: in pieces with sequence numbers, acknowledged, with flow control; about a tenth
    /// slower.
    case enhancedRetransmission
  }

  public var mode = Mode.basic
  /// The largest SDU that this side accepts. The remote side's limit may differ.
  public var incomingMTU = UInt16(PacketArithmetic.incomingMTU)
  /// The largest SDU that we accept over LE. Linux grants credits for what the receive buffer holds, less a header of
  /// 232 bytes for every 247, even in the middle of an SDU: one longer than that never arrives whole. 425,984 bytes
  /// hold 25,784, the usual 212,992 half of that.
  public var incomingLowEnergyMTU: UInt16 = 4096
  /// Whether the link must be paired and encrypted by BlueZ (BT_SECURITY_MEDIUM), or need not (LOW).
  public var requiresPairing = false
  /// How many unread bytes the kernel keeps, including overhead; the system's limit (net.core.rmem_max) caps it.
  public var receiveBuffer: Int32 = 1 << 20

  public init() {}
}
