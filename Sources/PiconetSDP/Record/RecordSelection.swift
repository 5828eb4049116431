/// Which of a device's records lead to a node of our session there.
public struct RecordSelection: Sendable, Hashable {
  public private(set) var records: [NodeRecord] = []
  /// Why the others were passed over, in their order.
  public private(set) var passedOver: [String] = []

  /// - Parameters:
  ///   - lists: what the device answered.
  ///   - service: the session's UUID.
  ///   - scope: the session id; nil: any. Two of them could have one UUID.
  ///   - device: the device that was asked. Its host may have other adapters, whose nodes it tells of as well.
  public init(
    from lists: [AttributeList], service: BluetoothUUID, scope: String?, device: BluetoothPlace
  ) {
    for list in lists {
      do {
        let record = try NodeRecord(list, of: service)
        if let scope, record.scope != scope {
          passedOver.append("another session")
        } else if let adapter = record.adapter, !record.leads(to: device) {
          passedOver.append("listens on another adapter, \(adapter)")
        } else if !records.contains(record) {
          records.append(record)
        }
      } catch {
        passedOver.append("\(error)")
      }
    }
  }
}

extension NodeRecord {
  /// Whether the node listens at the device from which its record came: a host with several adapters tells of the nodes
  /// on all of them. Behind a random address there is one adapter only, which has another address of its own.
  public func leads(to device: BluetoothPlace) -> Bool {
    device.isRandom || adapter == nil || adapter == device.device
  }
}
