/// The fixed numbers of the record channel: an L2CAP channel on which a node tells its record where nobody runs an SDP server.
///
/// Whoever connects gets one SDU, the data element that an SDP server would answer (a sequence of attribute lists), and closes.
public enum RecordChannel {
  /// Over BR/EDR.
  public static let psm: UInt16 = 0x1077
  /// Over LE.
  public static let lePSM: UInt16 = 0x00F7
  /// Of the SDU. A record within its limits has less than 1200 bytes.
  static let largest = 4096
}
