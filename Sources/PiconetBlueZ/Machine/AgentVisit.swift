import PiconetEngine

/// The short visits of our pairing agent.
///
/// Without a registered agent, bluetoothd refuses each incoming link about which the kernel asks. The kernel asks for
/// as long as the last agent could ask a person, since bluetoothd leaves that agent's capability in the kernel. After a
/// `bluetoothctl` that has ended, every connection over L2CAP and RFCOMM is therefore refused. An agent without screen
/// and keys, which comes and goes, makes the kernel accept such links by itself again. It does not stay, because
/// bluetoothd lets strangers pair with the adapter while an agent is registered.
struct AgentVisit: Hashable, Sendable {
  enum Phase: Hashable, Sendable {
    case due
    /// Our agent is registered, or may be.
    case there
    case over
  }

  private(set) var phase = Phase.due
  /// Whether the adapter was pairable at the last look.
  private var wasPairable: Bool?
  private var endedAt: Instant?

  /// A visit makes the adapter pairable for a moment. Reports of that come within this time.
  static let settling = Duration.seconds(1)

  /// Follows whether the adapter is pairable; bluetoothd makes it so while an agent is registered. The end of an agent
  /// is a reason for a visit.
  mutating func see(isPairable: Bool?, at now: Instant) {
    defer { wasPairable = isPairable }
    guard phase == .over, wasPairable == true, isPairable == false else { return }
    if endedAt.map({ $0 + Self.settling <= now }) ?? true { phase = .due }
  }

  mutating func began() { phase = .there }

  mutating func ended(at now: Instant) {
    phase = .over
    endedAt = now
  }
}
