import PiconetFiles

/// SHA-256 (FIPS 180-4) of content that comes piece by piece, for `Resource.contentIdentity`. Confined to one thread at
/// a time.
package final class ContentDigest {
  private let hash: RunningSHA256

  /// Nil if OpenSSL failed.
  package init?() {
    guard let hash = RunningSHA256() else { return nil }
    self.hash = hash
  }

  package func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bytes) }

  /// Returns the 32 bytes; no more content may follow. Nil if OpenSSL failed.
  package func finish() -> [UInt8]? { hash.finish()?.bytes }
}
