/// Who a peer is: the SHA-256 of the SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7) of its device key.
///
/// A link's peer id is proven by TLS before the engine hears of the link. An id in a sighting is only a hint.
/// The order is that of the bytes, so both ends of a link agree on which of them is smaller.
public struct PeerID: Hashable, Sendable {
  /// The 32 bytes, big-endian in four words: trivial to copy, to compare and to hash.
  let words: (UInt64, UInt64, UInt64, UInt64)

  /// The length of an id in bytes.
  public static let byteCount = 32

  /// Makes an id of exactly 32 bytes; any other count gives nil.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    var words: [UInt64] = [0, 0, 0, 0]
    for (index, byte) in bytes.enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(byte) }
    self.words = (words[0], words[1], words[2], words[3])
  }

  /// Reads 64 hexadecimal digits of either case; anything else gives nil.
  public init?(hexadecimal text: some StringProtocol) {
    guard let bytes = [UInt8](hexadecimal: text) else { return nil }
    self.init(bytes: bytes)
  }

  /// The 32 bytes.
  public var bytes: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(Self.byteCount)
    for word in [words.0, words.1, words.2, words.3] {
      for shift in stride(from: 56, through: 0, by: -8) {
        result.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
      }
    }
    return result
  }

  /// The first 12 hexadecimal digits: enough to tell the peers of one room apart, never to trust one.
  public var shortDescription: String { String(description.prefix(12)) }

  public static func == (left: PeerID, right: PeerID) -> Bool { left.words == right.words }

  public func hash(into hasher: inout Hasher) {
    // All four words: any device can choose the id in a sighting, and ids that share some words must not share a hash.
    withUnsafeBytes(of: words) { hasher.combine(bytes: $0) }
  }
}

extension PeerID: Comparable {
  public static func < (left: PeerID, right: PeerID) -> Bool { left.words < right.words }
}

extension PeerID: CustomStringConvertible {
  public var description: String { bytes.hexadecimal }
}
