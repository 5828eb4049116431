import PiconetSDP

extension BluetoothSocket {
  /// Whether there is a link over which this socket's connect to a device goes, so that it will be answered.
  func hasLink(to device: BluetoothAddress) -> Bool { links(to: device).contains(kind == .le ? .le : .bredr) }

  /// Whether this socket's connect will never be answered: the device has connected to us over LE meanwhile, and Linux
  /// (seen with 6.12) then gives up its own attempt without telling the process that waits for it. Any later connect
  /// gets stuck as well, until this one is closed.
  func isStranded(to device: BluetoothAddress) -> Bool {
    kind == .le && links(to: device).isSuperset(of: [.le, .lePending])
  }

  private func links(to device: BluetoothAddress) -> LinkKinds {
    localEnd.map { LinkKinds(from: $0.device, to: device) } ?? []
  }
}
