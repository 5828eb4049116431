/// What bytes pass through on their way in, for all links of a loop in turn. Confined to the loop; nothing stays in
/// them when a link has been read.
public final class LinkBuffers {
  /// Where ciphertext is read to.
  let reading = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
  /// Where what a small read brought is opened.
  let opening = UnsafeMutableRawBufferPointer.allocate(byteCount: LinkRunner.openBufferSize, alignment: 4096)

  public init() {}

  deinit {
    reading.deallocate()
    opening.deallocate()
  }
}
