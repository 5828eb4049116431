import COpenSSL

/// SHA-256 (FIPS 180-4) of bytes that come piece by piece, computed by an OpenSSL EVP context.
///
/// An update allocates nothing. Confined to one thread at a time.
public final class RunningSHA256 {
  private let context: OpaquePointer
  private var isSound: Bool
  private var result: SHA256Digest?

  /// Returns nil if OpenSSL has no memory, or no SHA-256 (because of its provider configuration).
  public init?() {
    guard let context = EVP_MD_CTX_new() else { return nil }
    guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      EVP_MD_CTX_free(context)
      return nil
    }
    self.context = context
    isSound = true
  }

  deinit { EVP_MD_CTX_free(context) }

  /// Takes the next bytes. Don't call it after `finish`: later bytes would not count.
  public func update(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, bytes.count > 0, isSound, result == nil else { return }
    isSound = EVP_DigestUpdate(context, start, bytes.count) == 1
  }

  /// Returns the digest of all bytes taken; the same at every later call. Nil only if OpenSSL failed.
  public func finish() -> SHA256Digest? {
    if let result { return result }
    guard isSound else { return nil }
    result = withUnsafeTemporaryAllocation(byteCount: SHA256Digest.byteCount, alignment: 8) { buffer in
      var count: UInt32 = 0
      guard EVP_DigestFinal_ex(context, buffer.baseAddress, &count) == 1 else { return nil }
      return SHA256Digest(bytes: buffer.prefix(Int(count)))
    }
    isSound = result != nil
    return result
  }

  /// Returns a copy that has taken the same bytes; nil if OpenSSL failed, or after `finish`.
  func copy() -> RunningSHA256? {
    guard isSound, result == nil, let other = RunningSHA256() else { return nil }
    return EVP_MD_CTX_copy_ex(other.context, context) == 1 ? other : nil
  }

  /// The digest of the bytes so far; more may follow. Nil if OpenSSL failed.
  var digestSoFar: SHA256Digest? { result ?? copy()?.finish() }

  /// Returns the digest of bytes in memory.
  public static func digest(of bytes: UnsafeRawBufferPointer) -> SHA256Digest? {
    let running = RunningSHA256()
    running?.update(bytes)
    return running?.finish()
  }
}

@available(*, unavailable, message: "An EVP context belongs to one thread at a time.")
extension RunningSHA256: Sendable {}
