/// The observed facts about this machine; `findings` interprets them. A value that is nil could not be observed.
struct DoctorFacts: Hashable, Sendable {
  struct Adapter: Hashable, Sendable {
    /// `hci0`.
    var name: String
    var address: String
    var isUp = true
    /// As bluetoothd says.
    var isDiscoverable: Bool?
    var hasLE = true
    var hasBREDR = true
    /// As bluetoothd says.
    var isPowered: Bool?
    /// Reported by bluetoothd: whether a pairing agent is registered, or a program has made it pairable.
    var isPairable: Bool?
    /// How many more LE advertisements bluetoothd takes.
    var advertisements: Int?

    var hasNoAddress: Bool { address == "00:00:00:00:00:00" }
  }

  struct RadioSwitch: Hashable, Sendable {
    /// The switch's name, such as `hci0` or `tpacpi_bluetooth_sw`.
    var name: String
    var isSoftBlocked = false
    var isHardBlocked = false
  }

  enum Bus: Hashable, Sendable {
    /// Nothing listens at the socket, or the socket does not exist: the system's words.
    case unreachable(String)
    /// The call to bluetoothd failed with this D-Bus error.
    case refused(String)
    case answered
    /// No answer came within the time that the doctor allows.
    case silent
  }

  struct Interface: Hashable, Sendable {
    var name: String
    var isLoopback = false
    var isUp = true
    var hasMulticast = true
    var hasIPv4 = true
    var hasIPv6 = false
    /// False for a port of a bridge, and for a bridge without ports.
    var canHavePeers = true
  }

  /// The file of the devices that are remembered.
  enum KnownPeers: Hashable, Sendable {
    /// Also used if the file does not exist yet.
    case readable
    /// The parts of it that can't be read, as `PATH:LINE: REASON`.
    case damaged([String])
    /// What is wrong with it, and what to do about it.
    case unreadable(String)
  }

  // Bluetooth in the kernel
  /// False: this build is without Bluetooth.
  var hasBluetoothBuild = true
  /// Why there is no socket, in the system's words.
  var l2capFailure: String?
  var rfcommFailure: String?
  var kernelRelease = ""
  /// Whether /lib/modules has a `bluetooth` module for the running kernel.
  var hasKernelModule: Bool?
  var adapters: [Adapter] = []
  /// Bluetooth devices on USB, by vendor and product such as `8087:0a2b`, that no driver has taken.
  var driverlessDevices: [String] = []
  var switches: [RadioSwitch] = []

  // bluetoothd
  var isDaemonRunning: Bool?
  /// Whether a signal or a debugger has stopped it: it runs, but does not answer any program.
  var isDaemonStopped = false
  /// The D-Bus error with which bluetoothd refuses this user's profile.
  var profileRefusal: String?
  /// Such as `5.66`.
  var daemonVersion: String?
  var bus: Bus?
  var servesSDP: Bool?

  // Permissions
  var isRoot = false
  var hasNetAdmin = false
  var hasNetRaw = false
  var mayUseRadioSwitch: Bool?
  /// Whether the group `bluetooth` exists and this user is in it; nil: there is no such group.
  var isInBluetoothGroup: Bool?

  /// What imagerecv uses to keep itself to its own directories.
  var landlock: LandlockSupport?

  // TCP
  var interfaces: [Interface] = []
  /// The names in PICONET_INTERFACES, if it is set.
  var chosenInterfaces: [String]?
  var multicast = MulticastDNSFacts()
  /// What filters packets here: `nftables`, `iptables`, `ufw`, `firewalld`.
  var firewalls: [String] = []

  // Trust
  var knownPeers = KnownPeers.readable
}
