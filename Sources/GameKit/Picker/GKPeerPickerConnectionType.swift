/// The kind of connection over which a peer picker looks for peers.
public enum GKPeerPickerConnectionType: UInt, Sendable {
  /// An IP network. On Apple's systems the program shows its own picker for this one. Here the picker looks over TCP,
  /// unless the program dismisses it when it is told of the choice.
  case online = 1
  /// Bluetooth.
  case nearby = 2
}
