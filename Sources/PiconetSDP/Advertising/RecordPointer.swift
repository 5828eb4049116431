/// The pointer to the record channel in an extended inquiry response, as service data of the session's UUID. It says
/// where the record can be read, and has a mark that changes when the record does, so that the record is read once and
/// not after every inquiry.
public struct RecordPointer: Sendable, Hashable {
  /// The version of these bytes.
  public static let version: UInt8 = 1

  /// The PSM of the record channel over BR/EDR.
  public var psm: UInt16
  public var mark: UInt32

  public init(psm: UInt16, mark: UInt32) {
    self.psm = psm
    self.mark = mark
  }

  /// The pointer to a record.
  public init(psm: UInt16, to record: NodeRecord, of service: BluetoothUUID) throws(NodeRecordRefusal) {
    // FNV-1a is enough: a device that lies with the mark makes us read a record needlessly, or not again, which it can
    // do anyway.
    var hash: UInt32 = 0x811C_9DC5
    for byte in try record.attributes(of: service).element.encoded { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
    self.init(psm: psm, mark: hash)
  }

  /// Seven bytes, big-endian: version, PSM, mark. Longer data is read as well: a later version may add to the end.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count >= 7, bytes[0] == Self.version else { return nil }
    let psm = UInt16(bytes[1]) << 8 | UInt16(bytes[2])
    guard psm & 0x0101 == 1, psm >= 0x1001 else { return nil }
    self.init(psm: psm, mark: bytes[3..<7].reduce(0) { $0 << 8 | UInt32($1) })
  }

  public var bytes: [UInt8] {
    [Self.version, UInt8(psm >> 8), UInt8(psm & 0xFF)]
      + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: mark >> UInt32($0)) }
  }
}
