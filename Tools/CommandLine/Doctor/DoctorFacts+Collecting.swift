import CPiconetSystem
import Glibc
import Piconet
import PiconetTerminal

extension DoctorFacts {
  /// Examines this machine, without privileges, without using a radio, and within about a second and a half; if another
  /// program keeps the port of Multicast DNS, within twice that.
  static func collected(_ environment: ProgramEnvironment) -> DoctorFacts {
    var facts = DoctorFacts()
    facts.collectRadios()
    facts.collectPermissions()
    facts.askDaemon(until: .now + .milliseconds(1500))
    facts.collectNetwork(environment)
    facts.collectKnownPeers(environment)
    return facts
  }

  /// Returns the facts about radios and networks that need no waiting for an answer.
  /// - Parameter radiosCount: radios are examined only if this returns true for the present networks: finding out
  ///   whether bluetoothd runs means going through all processes.
  static func glance(_ environment: ProgramEnvironment, where radiosCount: (DoctorFacts) -> Bool) -> DoctorFacts {
    var facts = DoctorFacts()
    facts.collectInterfaces(environment)
    if radiosCount(facts) { facts.collectRadios() }
    return facts
  }

  /// Finds out the facts about Bluetooth that a glance leaves open, within about a second.
  mutating func lookCloser() {
    collectPermissions()
    askDaemon(until: .now + .seconds(1))
  }

  // MARK: Bluetooth

  private mutating func collectRadios() {
    kernelRelease = SystemFile.line("/proc/sys/kernel/osrelease") ?? ""
    driverlessDevices = Self.driverlessDevices()
    switches = Self.radioSwitches()
    let daemons = Self.programs().filter { $0.name == "bluetoothd" }
    isDaemonRunning = !daemons.isEmpty
    isDaemonStopped = !daemons.isEmpty && daemons.allSatisfy { Self.isStopped($0.id) }
    #if Bluetooth
      let probe = BluetoothProbe()
      l2capFailure = probe.l2capError.map(ErrorNumber.text)
      rfcommFailure = probe.rfcommError.map(ErrorNumber.text)
      servesSDP = probe.servesSDP
      guard l2capFailure == nil else { return }
      adapters = probe.adapters.map { adapter in
        Adapter(
          name: adapter.name, address: adapter.address, isUp: adapter.isUp, hasLE: adapter.hasLE,
          hasBREDR: adapter.hasBREDR)
      }
    #else
      hasBluetoothBuild = false
    #endif
  }

  /// May block its thread for a second.
  private mutating func askDaemon(until deadline: ContinuousClock.Instant) {
    hasKernelModule = Self.hasModule("bluetooth", of: kernelRelease)
    #if Bluetooth
      guard l2capFailure == nil else { return }
      // A bit less than the deadline, so that bluetoothd not answering is reported as such.
      let asked = InTime { await DaemonProbe.ask(timeout: .milliseconds(800)) }
      let daemon = asked?.value(until: deadline)
      daemonVersion = daemon?.version.map { displaySafe($0) }
      profileRefusal = daemon?.profileRefusal.map { displaySafe($0) }
      bus =
        switch daemon?.answer {
        case nil: .silent
        case .noBus(let words): .unreachable(displaySafe(words))
        case .notRunning: .refused("org.freedesktop.DBus.Error.ServiceUnknown")
        case .refused(let name): .refused(displaySafe(name))
        case .answered: .answered
        }
      for index in adapters.indices {
        guard let told = daemon?.adapters[adapters[index].name] else { continue }
        adapters[index].isDiscoverable = told.isDiscoverable
        adapters[index].isPowered = told.isPowered
        adapters[index].advertisements = told.advertisements
        adapters[index].isPairable = told.isPairable
      }
    #endif
  }

  /// nil if this system shows no modules of the running kernel, as in a container.
  private static func hasModule(_ name: String, of release: String) -> Bool? {
    let folder = "/lib/modules/\(release)"
    guard !release.isEmpty, SystemFile.exists(folder) else { return nil }
    if SystemFile.names("\(folder)/kernel/net/\(name)")?.contains(where: { $0.hasPrefix("\(name).ko") }) == true {
      return true
    }
    return SystemFile.text("\(folder)/modules.builtin", atMost: 1 << 20)?.contains("/\(name).ko") ?? false
  }

  /// Interfaces of the class of Bluetooth controllers (USB class E0, subclass 01, protocol 01) without a driver.
  private static func driverlessDevices() -> [String] {
    let root = "/sys/bus/usb/devices"
    var devices: [String] = []
    for name in SystemFile.names(root, atMost: 1024) ?? [] where name.contains(":") {
      let folder = "\(root)/\(name)"
      let kind = ["bInterfaceClass", "bInterfaceSubClass", "bInterfaceProtocol"].map {
        SystemFile.line("\(folder)/\($0)")
      }
      guard kind == ["e0", "01", "01"], !SystemFile.exists("\(folder)/driver") else { continue }
      let device = "\(root)/\(name.prefix { $0 != ":" })"
      let ids = ["idVendor", "idProduct"].map { SystemFile.line("\(device)/\($0)") ?? "?" }
      let text = displaySafe(ids.joined(separator: ":"))
      if !devices.contains(text) { devices.append(text) }
    }
    return devices
  }

  private static func radioSwitches() -> [RadioSwitch] {
    let root = "/sys/class/rfkill"
    return (SystemFile.names(root, atMost: 256) ?? []).compactMap { name in
      guard SystemFile.line("\(root)/\(name)/type") == "bluetooth" else { return nil }
      return RadioSwitch(
        name: displaySafe(SystemFile.line("\(root)/\(name)/name") ?? name),
        isSoftBlocked: SystemFile.line("\(root)/\(name)/soft") == "1",
        isHardBlocked: SystemFile.line("\(root)/\(name)/hard") == "1")
    }
  }

  /// The running programs, as far as this user can see them, by their ids and names.
  private static func programs() -> [(id: String, name: String)] {
    (SystemFile.names("/proc") ?? []).compactMap { id in
      guard id.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return SystemFile.line("/proc/\(id)/comm").map { (id, $0) }
    }
  }

  /// Whether its state is T or t (proc(5)). The name before it may have anything in it.
  private static func isStopped(_ id: String) -> Bool {
    let state = SystemFile.line("/proc/\(id)/stat")?.split(separator: ")").last?.split(separator: " ").first
    return state?.lowercased() == "t"
  }

  // MARK: Permissions

  private mutating func collectPermissions() {
    isRoot = geteuid() == 0
    let status = SystemFile.text("/proc/self/status") ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
    let effective = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
    // capability.h: CAP_NET_ADMIN 12, CAP_NET_RAW 13.
    hasNetAdmin = effective >> 12 & 1 == 1
    hasNetRaw = effective >> 13 & 1 == 1
    landlock = .current
    mayUseRadioSwitch = SystemFile.exists("/dev/rfkill") ? access("/dev/rfkill", R_OK | W_OK) == 0 : nil
    isInBluetoothGroup = getgrnam("bluetooth").map { entry in
      var groups = [gid_t](repeating: 0, count: 1024)
      let count = getgroups(Int32(groups.count), &groups)
      return isRoot || getegid() == entry.pointee.gr_gid
        || groups.prefix(Int(max(0, count))).contains(entry.pointee.gr_gid)
    }
  }

  // MARK: Trust

  private mutating func collectKnownPeers(_ environment: ProgramEnvironment) {
    do throws(PiconetError) {
      let lines = try environment.identity.damagedKnownPeers()
      knownPeers = lines.isEmpty ? .readable : .damaged(lines.map { "\($0.path):\($0.line): \($0.reason)" })
    } catch {
      knownPeers = .unreadable(error.detail)
    }
  }

  // MARK: TCP

  private mutating func collectNetwork(_ environment: ProgramEnvironment) {
    collectInterfaces(environment)
    let programs = Set(Self.programs().map(\.name))
    multicast = .collected(usableInterfaces, programs: programs)
    askAvahi(until: .now + .milliseconds(1500))
    if programs.contains("firewalld") { firewalls.append("firewalld") }
    if SystemFile.text("/etc/ufw/ufw.conf")?.contains("\nENABLED=yes") == true { firewalls.append("ufw") }
    if let users = SystemFile.line("/sys/module/nf_tables/refcnt"), users != "0" { firewalls.append("nftables") }
    if SystemFile.exists("/sys/module/iptable_filter") { firewalls.append("iptables") }
  }

  /// Asks Avahi; may block its thread until the deadline.
  private mutating func askAvahi(until deadline: ContinuousClock.Instant) {
    guard multicast.ipv4Failure != nil || isIPv6PortTaken else { return }
    #if Bluetooth
      // A bit less than the deadline, so that Avahi not answering is reported as such.
      let asked = InTime { await AvahiProbe.ask(timeout: .milliseconds(1300)) }
      guard let probe = asked?.value(until: deadline) else { return multicast.avahi = .fails(.silent) }
      multicast.avahi = probe.failure.map { .fails($0) } ?? .publishes
    #else
      multicast.avahi = .fails(.notBuilt)
    #endif
  }

  private mutating func collectInterfaces(_ environment: ProgramEnvironment) {
    chosenInterfaces = environment.interfaces?.sorted()
    interfaces = Self.interfaces()
  }

  private static func interfaces() -> [Interface] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return [] }
    defer { freeifaddrs(list) }
    var result: [Interface] = []
    var entry = list
    while let item = entry?.pointee {
      entry = item.ifa_next
      let name = String(cString: item.ifa_name)
      let family = item.ifa_addr.map { Int32($0.pointee.sa_family) }
      let index =
        result.firstIndex { $0.name == name }
        ?? {
          // net/if.h: IFF_UP 1, IFF_LOOPBACK 8, IFF_RUNNING 0x40, IFF_MULTICAST 0x1000.
          result.append(
            Interface(
              name: name, isLoopback: item.ifa_flags & 0x8 != 0, isUp: item.ifa_flags & 0x41 == 0x41,
              hasMulticast: item.ifa_flags & 0x1000 != 0, hasIPv4: false, canHavePeers: canHavePeers(name)))
          return result.count - 1
        }()
      if family == AF_INET { result[index].hasIPv4 = true }
      if family == AF_INET6 { result[index].hasIPv6 = true }
      if result.count >= 4096 { break }
    }
    return result
  }

  /// Returns whether the interface can have peers. A port of a bridge or of a bond hands on received packets, and
  /// nothing is behind a bridge without ports (Documentation/ABI of Linux, sysfs-class-net).
  private static func canHavePeers(_ name: String) -> Bool {
    let folder = "/sys/class/net/\(name)"
    if SystemFile.exists("\(folder)/brport") || SystemFile.exists("\(folder)/bonding_slave") { return false }
    return !SystemFile.exists("\(folder)/bridge") || SystemFile.names("\(folder)/brif")?.isEmpty != true
  }
}
