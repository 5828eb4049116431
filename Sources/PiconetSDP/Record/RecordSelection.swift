/// The choice of a device's records that lead to a node of our session on it.
public struct RecordSelection: Sendable, Hashable {
  public private(set) var records: [NodeRecord] = []
  /// Why the others were skipped, in order.
  public private(set) var passedOver: [String] = []

  /// - Parameters:
  ///   - lists: the lists that the device answered.
  ///   - service: the session's UUID.
  ///   - session id: the session id; nil: any. Two session ids could share a UUID.
  ///   - device: the device that was asked. Its host may have other adapters, and it lists their nodes as well.
  public init(
    from lists: [AttributeList], service: BluetoothUUID, sessionID: String?, device: BluetoothPlace
  ) {
    for list in lists {
      do {
        let record = try NodeRecord(list, of: service)
        if let sessionID, record.sessionID != sessionID {
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
  /// Whether the node listens on the device from which its record came: a host with several adapters lists the nodes on
  /// all of them. Behind a random address there is only one adapter, whose own address differs.
  public func leads(to device: BluetoothPlace) -> Bool {
    device.isRandom || adapter == nil || adapter == device.device
  }
}
