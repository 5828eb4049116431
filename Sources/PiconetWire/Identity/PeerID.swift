/// The identity of a peer: the SHA-256 of the SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7) of its device key.
///
/// TLS proves a link's peer id before the engine learns of the link. An id in a sighting is only a hint. The order is
/// that of the bytes, so both ends of a link agree on which of them is smaller.
public struct PeerID: Hashable, Sendable {
  /// The 32 bytes, big-endian in four words: trivial to copy, to compare and to hash.
  let words: (UInt64, UInt64, UInt64, UInt64)

  /// The length of an id in bytes.
  public static let byteCount = 32

  /// Makes an id of exactly 32 bytes; nil for any other count.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    var words: [UInt64] = [0, 0, 0, 0]
    for (index, byte) in bytes.enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(byte) }
    self.words = (words[0], words[1], words[2], words[3])
  }

  /// Reads 64 hexadecimal digits of either case; nil for any other text.
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

  /// The first 12 hexadecimal digits. They suffice to tell the peers in one room apart, but never to trust one.
  public var shortDescription: String { String(description.prefix(12)) }

  public static func == (left: PeerID, right: PeerID) -> Bool { left.words == right.words }

  public func hash(into hasher: inout Hasher) {
    // Hashes all four words: any device can choose the id in a sighting, and ids that share some words must not share a
    // hash.
    withUnsafeBytes(of: words) { hasher.combine(bytes: $0) }
  }
}

extension PeerID: Comparable {
  public static func < (left: PeerID, right: PeerID) -> Bool { left.words < right.words }
}

extension PeerID: CustomStringConvertible {
  public var description: String { bytes.hexadecimal }
}
