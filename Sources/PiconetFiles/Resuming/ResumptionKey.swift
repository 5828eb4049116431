import PiconetWire

/// The key under which a partial file is kept: the sender's key, the sender's name for the content, and the size. No
/// other sender's offer leads to the file, so no sender learns what others have sent.
public struct ResumptionKey: Hashable, Sendable {
  /// The whole key; file names hold only its first quarter.
  let digest: SHA256Digest
  private let senderDigest: SHA256Digest
  /// The size of the whole file in bytes.
  let size: UInt64
  /// Whether the sender is a known peer. Strangers' files count as those of one sender, since keys cost nothing. A file
  /// keeps the status that its sender had when it began.
  private let isKnown: Bool

  /// Returns nil for an empty identity, and if OpenSSL failed.
  public init?(sender: PeerID, isKnown: Bool, identity: [UInt8], size: UInt64) {
    guard !identity.isEmpty, let hash = RunningSHA256() else { return nil }
    // Every part but the last has a fixed length, so no two keys are made of the same bytes.
    var bytes = Array("piconet resumption 1\n".utf8) + sender.bytes
    guard let senderDigest = bytes.withUnsafeBytes({ RunningSHA256.digest(of: $0) }) else { return nil }
    for shift in stride(from: UInt64(56), through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: size >> shift)) }
    bytes += identity
    bytes.withUnsafeBytes { hash.update($0) }
    guard let digest = hash.finish() else { return nil }
    self.digest = digest
    self.senderDigest = senderDigest
    self.size = size
    self.isKnown = isKnown
  }

  /// The name of a partial file that begins now. The first 16 digits are the same for all files of a sender. If two
  /// keys share a name, the journal distinguishes them.
  var partialName: PartialFileName { PartialFileName(kept: digits, ofStranger: !isKnown) }

  /// The name that it has if the sender was known then and is a stranger now, or the other way round.
  var otherPartialName: PartialFileName { PartialFileName(kept: digits, ofStranger: isKnown) }

  private var digits: String { String(senderDigest.hexadecimal.prefix(16) + digest.hexadecimal.prefix(16)) }
}
