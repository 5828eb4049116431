import PiconetWire

/// A SHA-256 digest (FIPS 180-4), by which files' contents are compared.
public struct SHA256Digest: Hashable, Sendable, CustomStringConvertible {
  /// The 32 bytes, big-endian in four words: trivial to copy and to compare.
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// The length of a digest in bytes.
  public static let byteCount = 32

  /// Makes a digest of exactly 32 bytes; any other count gives nil.
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

  /// 64 lower-case hexadecimal digits, as `sha256sum` prints them.
  public var hexadecimal: String { bytes.hexadecimal }

  public var description: String { hexadecimal }

  public static func == (left: SHA256Digest, right: SHA256Digest) -> Bool { left.words == right.words }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
  }
}
