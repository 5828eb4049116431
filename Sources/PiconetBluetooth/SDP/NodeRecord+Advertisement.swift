import PiconetEngine
import PiconetSDP

extension NodeRecord {
  /// Creates a node's record for Bluetooth. A name that breaks the limits is cut, see `NodeRecord.name(from:)`; info
  /// that breaks them is left out; ports of other transports don't count.
  /// - Parameter adapter: the adapter on which the node listens.
  public init(_ advertisement: NodeAdvertisement, adapter: BluetoothAddress) {
    self.init(
      peer: advertisement.peer, incarnation: advertisement.incarnation, name: NodeRecord.name(from: advertisement.name),
      sessionID: advertisement.sessionID, info: advertisement.info, adapter: adapter,
      l2capPSM: advertisement.ports[.l2cap],
      rfcommChannel: advertisement.ports[.rfcomm].flatMap(UInt8.init(exactly:)), lePSM: advertisement.ports[.le])
    if case .badInfo = refusal { info = [:] }
  }

  /// Returns the sighting of this node.
  /// - Parameters:
  ///   - device: the device from which the record was read; one with a random address is reached only over LE.
  ///   - signalStrength: in dBm, if it is known.
  public func sighting(on device: BluetoothPlace, signalStrength: Int? = nil) -> Sighting {
    let ports: [(TransportKind, UInt16?)] = [
      (.l2cap, device.isRandom ? nil : l2capPSM), (.rfcomm, device.isRandom ? nil : rfcommChannel.map(UInt16.init)),
      (.le, lePSM),
    ]
    let place = BluetoothPlace(
      device: device.isRandom ? device.device : adapter ?? device.device, isRandom: device.isRandom)
    let addresses = ports.compactMap { kind, port in
      port.map { port in
        var place = place
        place.port = port
        return TransportAddress(kind: kind, text: place.description)
      }
    }
    return Sighting(
      peer: peer, incarnation: incarnation, name: name, info: info, addresses: addresses,
      signalStrength: signalStrength)
  }
}
