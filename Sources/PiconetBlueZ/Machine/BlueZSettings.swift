import PiconetEngine
import PiconetSDP

/// Which adapter is used.
public enum AdapterChoice: Sendable, Hashable {
  /// The first one that is powered, otherwise the first one.
  case any
  /// By the kernel's name, such as `hci0`.
  case named(String)
  case address(BluetoothAddress)

  /// The path of the adapter to be used, if it is there.
  public func choose(from tree: ObjectTree) -> String? {
    let adapters = tree.adapters.values.filter { $0.address != nil }
      .sorted { ($0.path.utf8.count, $0.path) < ($1.path.utf8.count, $1.path) }
    switch self {
    case .any: return (adapters.first(where: \.isPowered) ?? adapters.first)?.path
    case .named(let name): return adapters.first { $0.kernelName == name }?.path
    case .address(let address): return adapters.first { $0.address == address }?.path
    }
  }
}

/// How we behave towards bluetoothd, and so towards everybody else who uses the adapter.
public struct BlueZSettings: Sendable, Hashable {
  public var adapter = AdapterChoice.any
  /// Whether an adapter that is off when it is first needed is switched on; it is switched off at the end.
  public var powersOn = true
  /// Whether connections to the profile need pairing.
  public var requiresPairing = false
  /// Whether others are looked for by BR/EDR's inquiry. Discoverable mode is needed for LE as well: BlueZ passes
  /// devices by whose advertisements do not say so.
  public var usesClassic = true
  /// LE: an advertisement where the adapter has LE, and the scan for those of others.
  public var usesLowEnergy = true

  /// Seconds after which the adapter stops being discoverable without us. This and the next number mark the mode as
  /// ours: they are set in turns, which starts the time anew, and who finds one of them knows that it is nobody's
  /// choice.
  public var discoverableTimeout: UInt32 = 61
  /// When the time is started anew, after half of it.
  public var renewal: Duration { .milliseconds(Int64(discoverableTimeout) * 500) }
  /// The least time between two attempts to be discoverable against somebody who switches it off.
  public var leastReassertion = Duration.seconds(3)
  /// The least time from one registration of the advertisement to the next, however many connect to us over LE.
  public var leastReadvertising = Duration.seconds(1)
  /// The least time from a change of the mode until an advertisement is taken back: bluetoothd renews advertisements
  /// after such a change, and 5.66 ends if one goes meanwhile.
  public var settling = Duration.milliseconds(500)
  /// What DiscoverableTimeout is where nobody has chosen, by BlueZ's default.
  public static let usualTimeout: UInt32 = 180

  /// One scan: as long as an inquiry of BR/EDR (10.24 s) and something on top.
  public var scan = Duration.seconds(12)
  /// The rest between two scans at first. It ends what BlueZ remembers of a scan, so that the next one tells anew who
  /// is there.
  public var eagerRest = Duration.milliseconds(500)
  /// How long a search is eager.
  public var eagerness = Duration.seconds(60)
  /// The rest between two scans later: links of others, a keyboard's among them, get two fifths of the time for
  /// themselves.
  public var rest = Duration.seconds(8)
  /// A peer is gone after so many scans in a row that did not hear its device.
  public var missedScans = 3
  /// For how long a scan pauses at most so that a record can be read over LE.
  public var longestPause = Duration.seconds(6)
  /// When no whole scan has ended for so long, the next one is not broken off for such a pause.
  public var wholeScanInterval = Duration.seconds(20)
  /// The least time without dialling and sending before a scan.
  public var quiet = Duration.seconds(1)

  /// A device that is heard is asked again so long after an answer: a restarted node is noticed by that.
  public var rereadInterval = Duration.seconds(20)
  /// A device that is heard for the first time is asked after a random part of this.
  public var firstDelay = Duration.milliseconds(150)
  /// Of the random parts of pauses, so that two nodes don't do everything at the same time; any value.
  public var seed: UInt64 = 0
  /// After a failure it is asked again after about this, then twice this, and so on,
  public var firstRetry = Duration.seconds(1)
  /// so many times,
  public var retries = 5
  /// and then in this interval, as long as it is heard.
  public var lateRetry = Duration.seconds(60)
  /// The most devices that are asked at the same time.
  public var concurrentReads = 2

  /// The longest pause before what was refused is tried again.
  public var longestRetry = Duration.seconds(60)
  /// The time that a call gets, and a longer one for the list of all objects.
  public var callTimeout = Duration.seconds(10)

  public init() {}
}
