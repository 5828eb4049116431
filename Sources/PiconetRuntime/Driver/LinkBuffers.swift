/// The buffers for incoming bytes, used by all links of a loop in turn. Confined to the loop; they are empty once a
/// link has been read.
public final class LinkBuffers {
  /// The buffer for ciphertext.
  let reading = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
  /// The buffer for the plaintext of a small read.
  let opening = UnsafeMutableRawBufferPointer.allocate(byteCount: LinkRunner.openBufferSize, alignment: 4096)

  public init() {}

  deinit {
    reading.deallocate()
    opening.deallocate()
  }
}
