import Piconet
import PiconetActors

extension RemoteSignal where Value == Int {
  /// How bright a lamp is.
  static var brightness: RemoteSignal { RemoteSignal("org.example.lamp", "brightness") }
}

extension RemoteSignal where Value == String {
  /// Somebody stands at the switch.
  static var pressed: RemoteSignal { RemoteSignal("org.example.lamp", "pressed") }
}

/// Tells everybody, then one member, and keeps a value for those that come later.
func tell(_ system: PiconetActorSystem, first member: Member) async throws {
  try await system.emit(.pressed, "by hand", from: "/ceiling")
  try await system.emit(.pressed, "by Ada", from: "/ceiling", to: .member(member))
  try system.set(.brightness, 7, of: "/ceiling")
}

/// Shows how bright a member's lamp is: as it is now, and then as it changes, until the member leaves.
func observe(lampOf member: Member, _ system: PiconetActorSystem, _ show: (String) -> Void) async {
  for await brightness in system.values(of: .brightness, at: "/ceiling", of: member) { show("it is \(brightness)") }
  show("it has gone")
}

/// Shows who is at a switch.
func watchSwitches(_ system: PiconetActorSystem, _ show: (String) -> Void) async {
  for await signal in system.signals(.pressed) { show("pressed \(signal.value) at \(signal.path)") }
}
