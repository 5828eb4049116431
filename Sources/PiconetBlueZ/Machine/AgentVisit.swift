import PiconetEngine

/// The short visits of our pairing agent.
///
/// Where no agent is registered, bluetoothd refuses each incoming link about which the kernel asks. The kernel asks for
/// as long as the last agent could ask a person, since bluetoothd leaves that agent's capability in the kernel: after a
/// `bluetoothctl` that has ended, every connection over L2CAP and RFCOMM is refused. An agent without screen and keys,
/// which comes and goes, makes the kernel accept such links by itself again. It does not stay, because bluetoothd lets
/// strangers pair with the adapter as long as there is an agent.
struct AgentVisit: Hashable, Sendable {
  enum Phase: Hashable, Sendable {
    case due
    /// Our agent is registered, or may be.
    case there
    case over
  }

  private(set) var phase = Phase.due
  /// Whether the adapter was pairable when it was last looked at.
  private var wasPairable: Bool?
  private var endedAt: Instant?

  /// A visit makes the adapter pairable for a moment. What is told of that comes within this time.
  static let settling = Duration.seconds(1)

  /// Follows whether the adapter is pairable, which bluetoothd makes it while there is an agent: an agent that goes is
  /// a reason for a visit.
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
