extension DataElement {
  /// The bytes of the element, big-endian as SDP has them.
  public var encoded: [UInt8] {
    switch self {
    case .null: [0]
    case .unsigned(let value, let width): Self.integer(1, value, width)
    case .signed(let value, let width): Self.integer(2, UInt64(bitPattern: value), width)
    case .wide(let isSigned, let digits): [isSigned ? 0x14 : 0x0C] + digits
    case .uuid(let uuid): Self.uuid(uuid)
    case .text(let bytes): Self.counted(4, bytes)
    case .boolean(let value): [0x28, value ? 1 : 0]
    case .sequence(let members): Self.counted(6, members.flatMap(\.encoded))
    case .alternative(let members): Self.counted(7, members.flatMap(\.encoded))
    case .url(let bytes): Self.counted(8, bytes)
    }
  }

  private static func integer(_ type: UInt8, _ value: UInt64, _ width: Width) -> [UInt8] {
    let count = Int(width.rawValue)
    return [type << 3 | UInt8(count.trailingZeroBitCount)] + bigEndian(value, count)
  }

  private static func uuid(_ uuid: BluetoothUUID) -> [UInt8] {
    guard let short = uuid.short else { return [0x1C] + uuid.bytes }
    return short <= 0xFFFF ? [0x19] + bigEndian(UInt64(short), 2) : [0x1A] + bigEndian(UInt64(short), 4)
  }

  private static func counted(_ type: UInt8, _ bytes: [UInt8]) -> [UInt8] {
    let (size, width): (UInt8, Int) = bytes.count <= 0xFF ? (5, 1) : bytes.count <= 0xFFFF ? (6, 2) : (7, 4)
    return [type << 3 | size] + bigEndian(UInt64(bytes.count), width) + bytes
  }

  private static func bigEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }
}
