import PiconetBlueZ
import PiconetDBusValues
import PiconetRuntime

/// The state that bluetoothd reports to this user on D-Bus.
public struct DaemonProbe: Sendable, Hashable {
  /// An adapter as bluetoothd reports it; nil: not reported.
  public struct Adapter: Sendable, Hashable {
    /// Whether it is powered on.
    public var isPowered: Bool?
    /// Whether others can find it.
    public var isDiscoverable: Bool?
    /// Whether others may pair with it: bluetoothd makes it so while a pairing agent is registered.
    public var isPairable: Bool?
    /// How many more LE advertisements it takes; nil: it has no LE advertising.
    public var advertisements: Int?

    /// Creates an adapter with the reported values.
    public init(
      isPowered: Bool? = nil, isDiscoverable: Bool? = nil, isPairable: Bool? = nil, advertisements: Int? = nil
    ) {
      self.isPairable = isPairable
      self.isPowered = isPowered
      self.isDiscoverable = isDiscoverable
      self.advertisements = advertisements
    }
  }

  /// How far the question got.
  @nonexhaustive
  public enum Answer: Sendable, Hashable {
    /// The system bus can't be reached: the system's words.
    case noBus(String)
    /// The name org.bluez has no owner on the bus.
    case notRunning
    /// The name of the D-Bus error, such as `org.freedesktop.DBus.Error.AccessDenied`.
    case refused(String)
    /// It has answered; the other properties hold its values.
    case answered
  }

  /// How far the question got.
  public var answer: Answer
  /// Such as `5.66`; nil if it was not reported.
  public var version: String?
  /// By the kernel's name, such as `hci0`.
  public var adapters: [String: Adapter]
  /// The name of the D-Bus error with which bluetoothd, or the bus's policy, refuses to let this user register a
  /// profile. Without one this node is not found over BR/EDR. Nil: it allows that, or was not asked.
  public var profileRefusal: String?

  /// Takes facts that were gathered elsewhere.
  public init(
    answer: Answer, version: String? = nil, adapters: [String: Adapter] = [:], profileRefusal: String? = nil
  ) {
    self.answer = answer
    self.profileRefusal = profileRefusal
    self.version = version
    self.adapters = adapters
  }

  /// Asks bluetoothd, without changing anything, for at most `timeout`; longer only if connecting to the bus hangs.
  public static func ask(timeout: Duration) async -> DaemonProbe {
    let loop: EventLoop
    do throws(SystemError) {
      loop = try EventLoop(name: "piconet-doctor")
    } catch {
      return DaemonProbe(answer: .noBus("\(error)"))
    }
    let status = await withCheckedContinuation { continuation in
      loop.execute { BlueZStatus.read(loop: loop, timeout: timeout) { continuation.resume(returning: $0) } }
    }
    loop.stop()
    return DaemonProbe(status)
  }

  init(_ status: BlueZStatus) {
    let answer: Answer =
      switch status.daemon {
      case .noBus(let failure): .noBus(failure.message.isEmpty ? failure.name : failure.message)
      case .notRunning: .notRunning
      case .refused(let failure): .refused(failure.name)
      case .running: .answered
      }
    var adapters: [String: Adapter] = [:]
    for adapter in status.adapters {
      adapters[adapter.kernelName] = Adapter(
        isPowered: adapter.isPowered, isDiscoverable: adapter.isDiscoverable, isPairable: adapter.isPairable,
        advertisements: adapter.advertisementsLeft)
    }
    self.init(
      answer: answer, version: status.version, adapters: adapters, profileRefusal: status.profileRefusal?.name)
  }
}
