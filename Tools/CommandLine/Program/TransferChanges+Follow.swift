import Piconet

extension TransferChanges {
  /// Calls back as the transfer progresses, until it ends.
  /// - Parameters:
  ///   - compared: with the bytes that a side has read to compare them.
  ///   - stored: when the receiver has more bytes.
  func follow(
    compared: @escaping @Sendable (UInt64) -> Void, stored: @escaping @Sendable (TransferProgress) -> Void
  ) -> Task<Void, Never> {
    Task {
      var last: (compared: UInt64, stored: UInt64) = (0, 0)
      for await progress in self {
        if progress.compared != last.compared { compared(progress.compared) }
        if progress.stored != last.stored { stored(progress) }
        last = (progress.compared, progress.stored)
      }
    }
  }
}
