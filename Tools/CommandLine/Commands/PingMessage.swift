/// A message of `piconet ping`: a kind and a number of 56 bits in eight bytes, then any bytes of the sender, which the
/// answer repeats.
struct PingMessage: Hashable, Sendable {
  enum Kind: UInt8, Sendable {
    case request = 0x70
    case reply = 0x71
  }

  static let headerSize = 8

  var kind: Kind
  /// Below 2^56.
  var number: UInt64
  var payload: ArraySlice<UInt8>

  init(kind: Kind, number: UInt64, payload: ArraySlice<UInt8>) {
    self.kind = kind
    self.number = number & 0xFF_FFFF_FFFF_FFFF
    self.payload = payload
  }

  /// nil for anything but a ping.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count >= Self.headerSize, let first = bytes.first, let kind = Kind(rawValue: first) else { return nil }
    let number = bytes.dropFirst().prefix(Self.headerSize - 1).reduce(0) { $0 << 8 | UInt64($1) }
    self.init(kind: kind, number: number, payload: bytes.dropFirst(Self.headerSize))
  }

  var bytes: [UInt8] {
    let header = (0..<Self.headerSize - 1).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    return [kind.rawValue] + header + payload
  }
}
