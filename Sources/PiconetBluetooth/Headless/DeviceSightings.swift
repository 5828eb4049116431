import PiconetEngine
import PiconetSDP
import PiconetWire

/// The sightings of nodes, by device. Any device can claim to have any node, so one device's claim removes nothing of
/// another's: the sighting of a node has the addresses of all.
struct DeviceSightings {
  private var ofDevices: [NodeID: [BluetoothAddress: Sighting]] = [:]

  /// The nodes, in order.
  var nodes: [NodeID] { ofDevices.keys.sorted() }

  /// Notes that a device claims to have a node.
  /// - Returns: the present sighting of the node; nil if nothing has changed.
  mutating func seen(_ sighting: Sighting, on device: BluetoothAddress) -> Sighting? {
    let node = NodeID(peer: sighting.peer, incarnation: sighting.incarnation)
    guard ofDevices[node]?[device] != sighting else { return nil }
    ofDevices[node, default: [:]][device] = sighting
    return merged(node)
  }

  /// - Returns: whether it was there.
  mutating func remove(_ node: NodeID) -> Bool { ofDevices.removeValue(forKey: node) != nil }

  mutating func removeAll() { ofDevices = [:] }

  private func merged(_ node: NodeID) -> Sighting? {
    let all = (ofDevices[node] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    guard var merged = all.first else { return nil }
    for sighting in all.dropFirst() {
      merged.addresses += sighting.addresses.filter { !merged.addresses.contains($0) }
    }
    merged.otherNames = Sighting.otherNames(all.flatMap(\.names))
    merged.signalStrength = all.compactMap(\.signalStrength).max()
    return merged
  }
}
