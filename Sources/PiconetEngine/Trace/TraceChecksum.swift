/// CRC-32 as in IEEE 802.3 (polynomial 0x04C11DB7, reflected): detects accidental changes of a trace by a disk or a
/// copy, not deliberate ones.
enum TraceChecksum {
  static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
    ~bytes.reduce(UInt32.max) { $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
  }
}
