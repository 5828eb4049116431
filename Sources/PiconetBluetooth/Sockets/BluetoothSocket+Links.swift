import PiconetSDP

extension BluetoothSocket {
  /// Whether there is a link that a connect of this socket to a device goes over, so that what was asked there will be
  /// answered.
  func hasLink(to device: BluetoothAddress) -> Bool { links(to: device).contains(kind == .le ? .le : .bredr) }

  /// Whether a connect of this socket waits in vain: the device has connected to us over LE meanwhile, and Linux (seen
  /// with 6.12) gives up its own attempt then, but tells nobody who waits for it. Whoever connects next waits with it,
  /// until it is closed.
  func isStranded(to device: BluetoothAddress) -> Bool {
    kind == .le && links(to: device).isSuperset(of: [.le, .lePending])
  }

  private func links(to device: BluetoothAddress) -> LinkKinds {
    localEnd.map { LinkKinds(from: $0.device, to: device) } ?? []
  }
}
