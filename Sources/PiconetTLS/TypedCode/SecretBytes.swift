import CPiconetOpenSSL

/// Bytes that are erased when their last reference is released. An array would leave copies behind wherever it grew or
/// was moved.
// Unchecked is safe because the bytes are written only in `init`.
final class SecretBytes: @unchecked Sendable {
  private let bytes: UnsafeMutableBufferPointer<UInt8>

  /// Starts with zeros, which `fill` then changes.
  init<Failure: Error>(
    count: Int, _ fill: (UnsafeMutableBufferPointer<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    bytes = .allocate(capacity: count)
    bytes.initialize(repeating: 0)
    try fill(bytes)
  }

  deinit {
    OPENSSL_cleanse(bytes.baseAddress, bytes.count)
    bytes.deallocate()
  }

  var count: Int { bytes.count }

  func withBytes<Result, Failure: Error>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeBufferPointer(bytes))
  }
}
