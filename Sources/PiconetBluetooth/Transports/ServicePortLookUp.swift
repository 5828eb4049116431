import PiconetEngine
import PiconetSDP

/// Asks a device for the numbers (PSM, channel) of one kind of socket under which the session's service listens there.
/// Calls its completion exactly once, on the loop, never from within the call.
public typealias ServicePortLookUp = (
  _ device: BluetoothPlace, _ kind: SocketKind, _ completion: @escaping (Result<[UInt16], LinkFailure>) -> Void
) -> any DialCancellation

extension ServiceRecordReader {
  /// Returns the look-up of a service by its records.
  public func portLookUp(of service: BluetoothUUID) -> ServicePortLookUp {
    { device, kind, completion in
      self.readRecords(of: service, on: device) { result in
        completion(result.map { records in records.compactMap { $0.port(of: kind) } })
      }
    }
  }
}

extension NodeRecord {
  /// Returns the port on which the node listens with this kind of socket; nil if it does not.
  func port(of kind: SocketKind) -> UInt16? {
    switch kind {
    case .l2cap: l2capPSM
    case .rfcomm: rfcommChannel.map(UInt16.init)
    case .le: lePSM
    }
  }
}
