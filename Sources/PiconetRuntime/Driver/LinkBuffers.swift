/// The buffers that bytes pass through on their way in, for all links of a loop in turn. Confined to the loop; nothing
/// stays in them once a link has been read.
public final class LinkBuffers {
  /// Ciphertext is read into it.
  let reading = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
  /// What a small read brought is opened into it.
  let opening = UnsafeMutableRawBufferPointer.allocate(byteCount: LinkRunner.openBufferSize, alignment: 4096)

  public init() {}

  deinit {
    reading.deallocate()
    opening.deallocate()
  }
}
