import PiconetBlueZ
import PiconetRuntime

/// What bluetoothd says of itself on D-Bus to this user.
public struct DaemonProbe: Sendable, Hashable {
  /// An adapter as bluetoothd has it; nil: not told.
  public struct Adapter: Sendable, Hashable {
    /// Whether it is powered on.
    public var isPowered: Bool?
    /// Whether others find it.
    public var isDiscoverable: Bool?
    /// How many more LE advertisements it takes; nil: it has no LE advertising.
    public var advertisements: Int?

    /// What was told.
    public init(isPowered: Bool? = nil, isDiscoverable: Bool? = nil, advertisements: Int? = nil) {
      self.isPowered = isPowered
      self.isDiscoverable = isDiscoverable
      self.advertisements = advertisements
    }
  }

  /// How far the question came.
  public enum Answer: Sendable, Hashable {
    /// The system bus can't be reached: the system's words.
    case noBus(String)
    /// Nobody is called org.bluez there.
    case notRunning
    /// The name of the D-Bus error, such as `org.freedesktop.DBus.Error.AccessDenied`.
    case refused(String)
    /// It answers; the other properties are what it has told.
    case answered
  }

  /// How far the question came.
  public var answer: Answer
  /// Such as `5.66`; nil where it was not told.
  public var version: String?
  /// By the kernel's name, such as `hci0`.
  public var adapters: [String: Adapter]
  /// The name of the D-Bus error with which bluetoothd, or the policy of the bus, lets this user register no profile,
  /// without which nobody finds us over BR/EDR; nil: it does, or was not asked.
  public var profileRefusal: String?

  /// Facts that were gathered elsewhere.
  public init(
    answer: Answer, version: String? = nil, adapters: [String: Adapter] = [:], profileRefusal: String? = nil
  ) {
    self.answer = answer
    self.profileRefusal = profileRefusal
    self.version = version
    self.adapters = adapters
  }

  /// Asks bluetoothd, which is not changed by it, for at most `timeout`; longer only where connecting to the bus hangs.
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
        isPowered: adapter.isPowered, isDiscoverable: adapter.isDiscoverable,
        advertisements: adapter.advertisementsLeft)
    }
    self.init(
      answer: answer, version: status.version, adapters: adapters, profileRefusal: status.profileRefusal?.name)
  }
}
