/// A sender's description of a resource, sent before its first byte.
public struct ResourceOffer: Hashable, Sendable {
  /// The sender's name for the file, as raw bytes. It need not be UTF-8 or safe.
  public var name: [UInt8]
  /// The size in bytes.
  public var size: UInt64
  /// An IANA media type; empty if the sender does not tell it.
  public var mediaType: String
  /// When the content was last changed, if the sender states it.
  public var modified: ResourceTime?
  /// Free data for the receiving application.
  public var metadata: [UInt8]
  /// The sender's name for exactly this content, at most `WireLimits.contentIdentity` bytes. The same bytes have the
  /// same identity when they are offered again, and other bytes never have it. If empty, a transfer can't resume from
  /// bytes that were stored before.
  public var identity: [UInt8]

  /// The folders to store the file below, the outermost first, separated by slashes: raw bytes, at most
  /// `WireLimits.resourceFolder`. Empty: no folders.
  public var folder: [UInt8]
  /// The files that it belongs to, as the sender states them, at most `WireLimits.resourceGroup` bytes (`FileGroup`).
  /// Empty: no files.
  public var group: [UInt8]

  public init(
    name: [UInt8], size: UInt64, mediaType: String = "", modified: ResourceTime? = nil, metadata: [UInt8] = [],
    identity: [UInt8] = [], folder: [UInt8] = [], group: [UInt8] = []
  ) {
    self.name = name
    self.size = size
    self.mediaType = mediaType
    self.modified = modified
    self.metadata = metadata
    self.identity = identity
    self.folder = folder
    self.group = group
  }
}

/// The digest of a resource's bytes.
public struct ResourceDigest: Hashable, Sendable, CustomStringConvertible {
  /// 1 is SHA-256 (FIPS 180-4), 32 bytes. Version 1 refuses other numbers.
  public static let sha256Algorithm: UInt8 = 1
  public static let byteCount = 32

  public var bytes: [UInt8]

  public init?(sha256 bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  public var description: String { bytes.hexadecimal }
}
