/// The fixed numbers of the record channel: an L2CAP channel on which a node serves its record, or a host the records
/// of its nodes, to peers that don't ask an SDP server.
///
/// A reader that connects gets one SDU, the data element that an SDP server would answer with (a sequence of attribute
/// lists), and closes.
public enum RecordChannel {
  /// Over BR/EDR.
  public static let psm: UInt16 = 0x1077
  /// Over LE, where each host on an adapter has its own. Readers begin with the first.
  public static let lePSMs: ClosedRange<UInt16> = 0x00F7...0x00FA
  /// The most bytes of the SDU. A record within its limits has fewer than 1200.
  static let largest = 4096

  /// Returns the PSMs of a kind. A node listens on the first that is free; a reader tries them one after the other.
  static func psms(of kind: SocketKind) -> [UInt16] { kind == .le ? Array(lePSMs) : [psm] }
}
