import PiconetSDP

extension BluetoothSocket {
  /// Returns whether a link exists over which this socket's connect to a device goes, so that it will be answered.
  func hasLink(to device: BluetoothAddress) -> Bool { links(to: device).contains(kind == .le ? .le : .bredr) }

  /// Returns whether this socket's connect will never be answered. The device has connected to us over LE meanwhile,
  /// and Linux (seen with 6.12) then gives up its own attempt without telling the waiting process. Any later connect
  /// gets stuck as well, until this one is closed.
  func isStranded(to device: BluetoothAddress) -> Bool {
    kind == .le && links(to: device).isSuperset(of: [.le, .lePending])
  }

  private func links(to device: BluetoothAddress) -> LinkKinds {
    localEnd.map { LinkKinds(from: $0.device, to: device) } ?? []
  }
}
