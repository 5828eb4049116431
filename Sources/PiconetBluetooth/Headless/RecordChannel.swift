/// The fixed numbers of the record channel: an L2CAP channel on which a node tells its record where nobody asks an SDP
/// server.
///
/// Whoever connects gets one SDU, the data element that an SDP server would answer (a sequence of attribute lists), and
/// closes.
public enum RecordChannel {
  /// Over BR/EDR.
  public static let psm: UInt16 = 0x1077
  /// Over LE, where each node of an adapter has one of its own. Whoever asks begins with the first.
  public static let lePSMs: ClosedRange<UInt16> = 0x00F7...0x00FA
  /// Of the SDU. A record within its limits has less than 1200 bytes.
  static let largest = 4096

  /// Where a node listens, the first that is free, and a reader asks, one after the other.
  static func psms(of kind: SocketKind) -> [UInt16] { kind == .le ? Array(lePSMs) : [psm] }
}
