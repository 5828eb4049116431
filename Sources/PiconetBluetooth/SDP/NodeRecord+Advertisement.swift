import PiconetEngine
import PiconetSDP

extension NodeRecord {
  /// What a node says of itself over Bluetooth. A name that breaks the limits is cut, see `NodeRecord.name(from:)`; info that
  /// does is left out; ports of other transports don't count.
  /// - Parameter adapter: on which it listens.
  public init(_ advertisement: Advertisement, adapter: BluetoothAddress) {
    self.init(
      peer: advertisement.peer, incarnation: advertisement.incarnation, name: NodeRecord.name(from: advertisement.name),
      scope: advertisement.scope, info: advertisement.info, adapter: adapter, l2capPSM: advertisement.ports[.l2cap],
      rfcommChannel: advertisement.ports[.rfcomm].flatMap(UInt8.init(exactly:)), lePSM: advertisement.ports[.le])
    if case .badInfo = refusal { info = [:] }
  }

  /// The sighting of this node.
  /// - Parameter device: where the record was read.
  public func sighting(on device: BluetoothAddress) -> Sighting {
    let ports: [(TransportKind, UInt16?)] = [
      (.l2cap, l2capPSM), (.rfcomm, rfcommChannel.map(UInt16.init)), (.le, lePSM),
    ]
    let addresses = ports.compactMap { kind, port in
      port.map { TransportAddress(kind: kind, text: BluetoothPlace(device: adapter ?? device, port: $0).description) }
    }
    return Sighting(peer: peer, incarnation: incarnation, name: name, info: info, addresses: addresses)
  }
}
