import PiconetEngine
import PiconetSDP

/// The choice of the adapter.
public enum AdapterChoice: Sendable, Hashable {
  /// The first one that is powered, otherwise the first one.
  case any
  /// By the kernel's name, such as `hci0`.
  case named(String)
  case address(BluetoothAddress)

  /// Returns the path of the adapter to use, if it is present.
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

/// The behaviour towards bluetoothd, and so towards all other users of the adapter.
public struct BlueZSettings: Sendable, Hashable {
  public var adapter = AdapterChoice.any
  /// Whether an adapter that is off when it is first needed is switched on; it is switched off at the end.
  public var powersOn = true
  /// Whether connections to the profile need pairing.
  public var requiresPairing = false
  /// Whether others are looked for by BR/EDR inquiry. Discoverable mode is needed for LE as well: BlueZ ignores devices
  /// whose advertisements are not marked as discoverable.
  public var usesClassic = true
  /// Whether LE is used: an advertisement if the adapter has LE, and a scan for those of others.
  public var usesLowEnergy = true

  /// Seconds after which the adapter stops being discoverable without us. This and the next larger number mark the mode
  /// as ours. They are set in turn, which restarts the time. A node that finds one of them knows that no user chose it.
  public var discoverableTimeout: UInt32 = 61
  /// When the time is restarted: after half of it.
  public var renewal: Duration { .milliseconds(Int64(discoverableTimeout) * 500) }
  /// The least time between two attempts to be discoverable if a user keeps switching the mode off.
  public var leastReassertion = Duration.seconds(3)
  /// The least time from one registration of the advertisement to the next, however many devices connect over LE.
  public var leastReadvertising = Duration.seconds(1)
  /// The least time from a change of the mode until an advertisement is taken back: bluetoothd renews advertisements
  /// after such a change, and version 5.66 crashes if one is removed meanwhile.
  public var settling = Duration.milliseconds(500)
  /// BlueZ's default for DiscoverableTimeout, where none is configured.
  public static let usualTimeout: UInt32 = 180

  /// The length of one scan: a BR/EDR inquiry (10.24 s) and a little more.
  public var scan = Duration.seconds(12)
  /// The rest between two scans at first. It makes BlueZ forget the devices of a scan, so that the next one reports all
  /// of them again.
  public var eagerRest = Duration.milliseconds(500)
  /// How long a search is eager.
  public var eagerness = Duration.seconds(60)
  /// The rest between two scans later: other links, such as a keyboard's, get two fifths of the time to themselves.
  public var rest = Duration.seconds(8)
  /// A peer is gone after this many scans in a row that did not hear its device.
  public var missedScans = 3
  /// The longest pause of a scan for reading a record over LE.
  public var longestPause = Duration.seconds(6)
  /// If no whole scan has ended for this long, the next one is not broken off for such a pause.
  public var wholeScanInterval = Duration.seconds(20)
  /// The least time without dialling and sending before a scan.
  public var quiet = Duration.seconds(1)

  /// A device that is heard is asked again this long after an answer, so that a restarted node is noticed.
  public var rereadInterval = Duration.seconds(20)
  /// The delay before a device that is heard for the first time is asked is a random part of this.
  public var firstDelay = Duration.milliseconds(150)
  /// The seed of the random parts of pauses, so that two nodes don't do everything at the same time; any value.
  public var seed: UInt64 = 0
  /// The pause after which a device is asked again after a failure, which doubles with each further failure.
  public var firstRetry = Duration.seconds(1)
  /// The number of failures in a row that are followed by such a pause.
  public var retries = 5
  /// The pause after further failures, as long as the device is heard.
  public var lateRetry = Duration.seconds(60)
  /// The most devices that are asked at the same time.
  public var concurrentReads = 2

  /// The longest pause before a refused step is tried again.
  public var longestRetry = Duration.seconds(60)
  /// The time that a call gets; the list of all objects gets longer.
  public var callTimeout = Duration.seconds(10)

  public init() {}
}
