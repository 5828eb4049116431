import PiconetEngine
import PiconetSDP

/// Reads the records of the nodes on a device; confined to the loop.
public protocol ServiceRecordReader: AnyObject {
  /// Reads the records of the session's service from a device and calls `completion` exactly once, on the loop, never
  /// from within this call. If there is no record at all the failure is `noService`. If nothing listens on just one of
  /// the ways to records, it is `refused`.
  /// - Returns: an object that cancels the reading: the completion then gets `.cancelled`.
  func readRecords(
    of service: BluetoothUUID, on device: BluetoothPlace,
    completion: @escaping (Result<[NodeRecord], LinkFailure>) -> Void
  ) -> any DialCancellation
  /// Cancels readings under way: each completion gets `.cancelled`.
  func close()
  /// Closes as `close` does; `completion` is called on the loop, perhaps at once, when no descriptor of the reader is
  /// left: after a second at most.
  func shutDown(_ completion: @escaping () -> Void)
}

extension ServiceRecordReader {
  public func close() {}

  public func shutDown(_ completion: @escaping () -> Void) {
    close()
    completion()
  }
}
