extension DoctorFacts {
  /// The meaning of the facts, beginning with those on which others depend; ends with the conclusion.
  var findings: [Finding] {
    let bluetooth = kernelFindings + adapterFindings + switchFindings + daemonFindings + permissionFindings
    let network = networkFindings
    return bluetooth + network + knownPeersFindings + confinementFindings + [verdict]
  }

  /// Whether the kernel supports Bluetooth and has an adapter at all.
  private var hasBluetooth: Bool { hasBluetoothBuild && l2capFailure == nil && !adapters.isEmpty }

  /// Whether others can be found: through bluetoothd, or the headless way without it. The headless way does not replace
  /// a bluetoothd that runs and does not answer.
  private var hasFinder: Bool { bus == .answered || hasNetAdmin && hasNetRaw && !isDaemonInTheWay }

  private var isDaemonInTheWay: Bool {
    if isDaemonMute { return true }
    return isDaemonRunning == true && bus == .refused("org.freedesktop.DBus.Error.AccessDenied")
  }

  /// Whether bluetoothd runs, but does not answer any program.
  private var isDaemonMute: Bool {
    if isDaemonStopped { return true }
    return switch bus {
    case nil, .answered, .unreachable, .refused("org.freedesktop.DBus.Error.AccessDenied"),
      .refused("org.freedesktop.DBus.Error.ServiceUnknown"), .refused("org.freedesktop.DBus.Error.NameHasNoOwner"):
      false
    case .silent, .refused: isDaemonRunning != false
    }
  }

  private var canUseBluetooth: Bool { hasBluetooth && adapters.contains(where: \.isUsable) && hasFinder }

  /// Whether a firewall lets queries out on some interface.
  private var canSend: Bool {
    usableInterfaces.contains { !$0.isLoopback && !multicast.blockedInterfaces.contains($0.name) }
  }

  /// Whether a network exists on which others may be.
  var hasNetwork: Bool { usableInterfaces.contains { !$0.isLoopback } }

  private var canUseTCP: Bool { usableInterfaces.contains { !$0.isLoopback && multicast.isOpen(on: $0) } }

  /// Obstacles that may pass by themselves: programs switch on adapters that are off, and a busy bluetoothd may answer
  /// late. They are reported when they are seen twice.
  static let passingObstacles: Set<String> = ["adapter.down", "dbus.silent", "dbus.failed"]

  /// Returns what keeps peers from being found over Bluetooth, as a cause rather than a consequence; nil: no visible
  /// obstacle.
  /// - Parameter adapter: the only one that counts, by its name or its address; nil: any.
  func bluetoothObstacle(of adapter: String?) -> Finding? {
    var facts = self
    if let adapter {
      facts.adapters.removeAll { $0.name != adapter && $0.address != adapter }
      let others = Set(adapters.map(\.name)).subtracting(facts.adapters.map(\.name))
      facts.switches.removeAll { others.contains($0.name) }
    }
    return facts.bluetoothObstacle
  }

  private var bluetoothObstacle: Finding? {
    if canUseBluetooth { return nil }
    let isAnyUsable = adapters.contains(where: \.isUsable)
    let findings: [Finding]
    if !hasBluetooth {
      findings = kernelFindings + adapterFindings
    } else if !isAnyUsable, hasFinder || adapters.allSatisfy(\.hasNoAddress) || switches.contains(where: \.isBlocked) {
      // A block also turns the adapter off, and so does the end of bluetoothd, which comes next.
      findings = switchFindings + adapterFindings
    } else {
      findings = daemonFindings + permissionFindings
    }
    return findings.first { $0.severity == .problem } ?? findings.first { $0.severity > .ok }
  }

  // MARK: The kernel

  private var kernelFindings: [Finding] {
    guard hasBluetoothBuild else {
      return [
        Finding(
          "kernel.build", .warning, "this build of Piconet is without Bluetooth",
          advice: "build it with the trait Bluetooth, which is on unless it was turned off")
      ]
    }
    guard let l2capFailure else {
      guard let rfcommFailure else { return [Finding("kernel.sockets", .ok, "L2CAP and RFCOMM sockets can be made")] }
      return [
        Finding("kernel.l2cap", .ok, "L2CAP sockets can be made"),
        Finding(
          "kernel.rfcomm", .warning, "no RFCOMM sockets: \(rfcommFailure)",
          advice: "load the module: modprobe rfcomm; without it L2CAP is used"),
      ]
    }
    let advice =
      switch hasKernelModule {
      case true?: "load the module: modprobe bluetooth (and look whether a file in /etc/modprobe.d forbids it)"
      case false?:
        "kernel \(kernelRelease) was built without Bluetooth; Debian's cloud kernels are: install linux-image-amd64"
      case nil: "ask for a kernel with CONFIG_BT, or for the modules 'bluetooth', 'rfcomm' and 'btusb'"
      }
    return [Finding("kernel.sockets", .warning, "no Bluetooth sockets: \(l2capFailure)", advice: advice)]
  }

  // MARK: The adapters

  private var adapterFindings: [Finding] {
    guard hasBluetoothBuild, l2capFailure == nil else { return [] }
    var result = driverlessDevices.map { device in
      Finding(
        "adapter.driver", .problem, "USB device \(device) is a Bluetooth adapter that no driver has taken",
        advice: "load the module: modprobe btusb; then look for missing firmware: dmesg | grep -i bluetooth")
    }
    if adapters.isEmpty, driverlessDevices.isEmpty {
      result.append(
        Finding(
          "adapter.none", .warning, "no Bluetooth adapter",
          advice: "plug one in, or turn it on in the firmware set-up of this machine; until then TCP is used"))
    }
    for adapter in adapters { result += findings(of: adapter) }
    return result
  }

  private func findings(of adapter: Adapter) -> [Finding] {
    let who = "\(adapter.name) (\(adapter.address))"
    if adapter.hasNoAddress {
      return [
        Finding(
          "adapter.firmware", .problem, "\(adapter.name) has no address: its firmware has not come up",
          advice: "look for the missing file: dmesg | grep -i firmware; Debian has it in firmware-realtek, "
            + "firmware-iwlwifi, firmware-atheros or firmware-brcm80211; then replug or reboot")
      ]
    }
    var result: [Finding] = []
    if adapter.isUp, adapter.isPowered != false {
      let kinds = [adapter.hasBREDR ? "BR/EDR" : nil, adapter.hasLE ? "LE" : nil].compactMap { $0 }
      result.append(Finding("adapter.up", .ok, "\(who) is on, with \(kinds.joined(separator: " and "))"))
    } else {
      let isBlocked = switches.contains { $0.isBlocked && ($0.name == adapter.name || adapters.count == 1) }
      let powerOn =
        isDaemonRunning == false ? "start bluetoothd, or: sudo hciconfig \(adapter.name) up" : "bluetoothctl power on"
      // Another one will do as well.
      let severity: Finding.Severity = adapters.contains(where: \.isUsable) ? .warning : .problem
      result.append(
        Finding(
          "adapter.down", severity, "\(who) is off",
          advice: isBlocked
            ? "unblock it first, see below"
            : "\(powerOn); if that fails: dmesg | grep -i bluetooth, for missing firmware"))
    }
    if !adapter.hasBREDR {
      result.append(
        Finding(
          "adapter.bredr", .warning, "\(adapter.name) has no classic Bluetooth",
          advice: "RFCOMM and L2CAP need BR/EDR: look at ControllerMode in /etc/bluetooth/main.conf; LE is used"))
    }
    if !adapter.hasLE {
      result.append(
        Finding(
          "adapter.le", .warning, "\(adapter.name) has no Bluetooth Low Energy",
          advice: "nothing to do: peers are found by an inquiry, which takes seconds longer"))
    } else if bus == .answered, adapter.isUp {
      result.append(
        (adapter.advertisements ?? 0) > 0
          ? Finding("adapter.advertising", .ok, "\(adapter.name) takes LE advertisements")
          : Finding(
            "adapter.advertising", .warning, "\(adapter.name) takes no LE advertisement",
            advice: adapter.advertisements == nil
              ? "bluetoothd offers none: older than 5.48, or LE is turned off in /etc/bluetooth/main.conf"
              : "other programs use all of them; peers are found by an inquiry instead"))
    }
    if adapter.isUp, let isDiscoverable = adapter.isDiscoverable {
      result.append(
        Finding(
          "adapter.discoverable", .ok,
          isDiscoverable
            ? "\(adapter.name) is discoverable"
            : "\(adapter.name) is not discoverable; Piconet makes it so while it advertises"))
    }
    if bus == .answered, adapter.hasBREDR, let isPairable = adapter.isPairable {
      result.append(
        Finding(
          "adapter.pairable", .ok,
          isPairable
            ? "\(adapter.name) has a pairing agent, as a desktop's, which may ask about connections over L2CAP and RFCOMM"
            : "\(adapter.name) has no pairing agent, so nobody is asked about connections over L2CAP and RFCOMM; if one "
              + "was here before, as 'bluetoothctl', others are refused unless imagerecv is visible"))
    }
    return result
  }

  private var switchFindings: [Finding] {
    switches.map { radio in
      if radio.isHardBlocked {
        return Finding(
          "rfkill.hard", .problem, "\(radio.name) is blocked by a switch of the machine",
          advice: "use the wireless switch, key or firmware setting of this machine")
      }
      if radio.isSoftBlocked {
        return Finding(
          "rfkill.soft", .problem, "\(radio.name) is blocked by software (airplane mode?)",
          advice: mayUseRadioSwitch == false
            ? "sudo rfkill unblock bluetooth (this user may not write to /dev/rfkill)" : "rfkill unblock bluetooth")
      }
      return Finding("rfkill.open", .ok, "\(radio.name) is not blocked")
    }
  }

  // MARK: bluetoothd

  private var daemonFindings: [Finding] {
    guard hasBluetooth else { return [] }
    let version = daemonVersion.map { " \($0)" } ?? ""
    var result: [Finding] = []
    if isDaemonRunning == false, bus != .answered {
      result.append(
        Finding(
          "bluetoothd.stopped", hasNetAdmin && hasNetRaw ? .warning : .problem, "bluetoothd is not running",
          advice:
            "apt install bluez, systemctl enable --now bluetooth; without it peers are found only by the headless way, "
            + "which needs CAP_NET_ADMIN and CAP_NET_RAW"))
    } else if isDaemonStopped {
      result.append(
        Finding(
          "bluetoothd.frozen", .problem, "bluetoothd\(version) is stopped by a signal, and answers nobody",
          advice: "let it go on: sudo pkill -CONT -x bluetoothd; or restart it: systemctl restart bluetooth"))
    } else if isDaemonRunning == true || bus == .answered {
      result.append(Finding("bluetoothd.running", .ok, "bluetoothd\(version) is running"))
    }
    if !isDaemonStopped, let finding = busFinding { result.append(finding) }
    if let profileRefusal {
      result.append(
        Finding(
          "dbus.profiles", .warning,
          "bluetoothd takes no service of this user (\(profileRefusal)): others don't find this device over BR/EDR",
          advice:
            "allow org.bluez.ProfileManager1 in /etc/dbus-1/system.d/bluetooth.conf, or add the user to the group "
            + "bluetooth; until then others must name the address: --address 00:11:22:33:44:55/0xPSM"))
    }
    switch servesSDP {
    case true? where isDaemonMute:
      result.append(
        Finding(
          "sdp.silent", .warning, "nobody answers SDP queries (PSM 1): bluetoothd has the channel, and does not answer",
          advice: "see above; until then others must name the channel: --address 00:11:22:33:44:55/CHANNEL"))
    case true?: result.append(Finding("sdp.served", .ok, "SDP queries are answered (PSM 1)"))
    case false?:
      result.append(
        Finding(
          "sdp.silent", .warning, "nobody answers SDP queries (PSM 1)",
          advice: "start bluetoothd; until then others must name the channel: --address 00:11:22:33:44:55/CHANNEL"))
    case nil: break
    }
    return result
  }

  private var busFinding: Finding? {
    switch bus {
    case nil: return nil
    case .answered: return Finding("dbus.bluez", .ok, "org.bluez answers this user on the system bus")
    case .silent:
      return Finding(
        "dbus.silent", .problem, "the system bus does not answer",
        advice: "look at it: systemctl status dbus bluetooth, journalctl -b -u bluetooth")
    case .unreachable(let words):
      return Finding(
        "dbus.unreachable", .problem, "the D-Bus system bus can't be reached: \(words)",
        advice: "start it: systemctl start dbus; in a container share /run/dbus/system_bus_socket")
    case .refused("org.freedesktop.DBus.Error.AccessDenied"):
      let advice =
        switch isInBluetoothGroup {
        case true?: "this user is in the group: log in anew, or look at /etc/dbus-1/system.d/bluetooth.conf"
        case false?: "adduser $USER bluetooth, then log in anew"
        case nil: "allow it in /etc/dbus-1/system.d/bluetooth.conf, or log in at this machine's own screen"
        }
      return Finding("dbus.denied", .problem, "D-Bus does not let this user talk to bluetoothd", advice: advice)
    case .refused("org.freedesktop.DBus.Error.ServiceUnknown"), .refused("org.freedesktop.DBus.Error.NameHasNoOwner"):
      guard isDaemonRunning == true else { return nil }
      return Finding(
        "dbus.absent", .problem, "bluetoothd runs, but not on this system bus",
        advice: "restart it: systemctl restart bluetooth; look at DBUS_SYSTEM_BUS_ADDRESS")
    case .refused(let name):
      return Finding(
        "dbus.failed", .problem, "bluetoothd does not answer: \(name)",
        advice: "look at it: systemctl status bluetooth, journalctl -b -u bluetooth")
    }
  }

  // MARK: Permissions

  private var permissionFindings: [Finding] {
    guard hasBluetooth else { return [] }
    if hasNetAdmin, hasNetRaw {
      return [
        Finding("permission.headless", .ok, "the headless way is possible: CAP_NET_ADMIN and CAP_NET_RAW are there")
      ]
    }
    return [
      Finding(
        "permission.headless", bus == .answered ? .ok : .warning,
        "the headless way is not possible: no CAP_NET_ADMIN and CAP_NET_RAW",
        advice: bus == .answered
          ? nil : "with bluetoothd none is needed; without it: setcap cap_net_admin,cap_net_raw+ep PROGRAM, or root")
    ]
  }

  // MARK: Trust

  private var knownPeersFindings: [Finding] {
    switch knownPeers {
    case .readable: return [Finding("known-peers.readable", .ok, "what is remembered of other devices can be read")]
    case .unreadable(let reason):
      return [
        Finding(
          "known-peers.unreadable", .problem, "what is remembered of other devices can't be read: \(reason)",
          advice: "mend that; until then every peer is turned away")
      ]
    case .damaged(let lines):
      let rest = lines.count - Console.damagedLinesTold
      let more = rest > 0 ? "; \(rest) more are damaged" : ""
      return lines.prefix(Console.damagedLinesTold).enumerated().map { index, line in
        Finding(
          "known-peers.damaged", .warning,
          "\(line); the device in it counts as unknown\(index + 1 == Console.damagedLinesTold ? more : "")",
          advice: "mend the line, or remove it and accept the device again")
      }
    }
  }

  private var confinementFindings: [Finding] {
    switch landlock {
    case nil: []
    case .usable(let version)?:
      [
        Finding(
          "confinement.landlock", .ok,
          "imagerecv can write nowhere but where it stores"
            + (version < 3 ? ", but for emptying files, before Linux 6.2" : "") + " (Landlock, version \(version))")
      ]
    case .missing(let reason)?:
      [
        Finding(
          "confinement.missing", .warning, "the kernel can't keep imagerecv to where it stores: \(reason)",
          advice: "Linux 5.19 and later can, with CONFIG_SECURITY_LANDLOCK and 'landlock' in what 'lsm=' lists")
      ]
    }
  }

  // MARK: The conclusion

  private var verdict: Finding {
    switch (canUseBluetooth, canUseTCP) {
    case (true, true): Finding("sum.both", .ok, "others can be reached over TCP and over Bluetooth")
    case (false, true): Finding("sum.tcp", .ok, "others can be reached over TCP, not over Bluetooth")
    case (true, false): Finding("sum.bluetooth", .ok, "others can be reached over Bluetooth, not over TCP")
    case (false, false) where hasNetwork && canSend:
      Finding(
        "sum.address", .warning, "others are found over TCP, but find this device neither over TCP nor over Bluetooth",
        advice: "mend what is said above; until then others reach this device by --address HOST:PORT alone")
    case (false, false):
      Finding(
        "sum.none", chosenInterfaces == ["lo"] ? .warning : .problem, "nobody outside this machine can be found",
        advice: "mend what is said above, one of Bluetooth and TCP is enough")
    }
  }
}

extension DoctorFacts.Adapter {
  /// A block also turns the adapter off, so this covers blocks as well.
  var isUsable: Bool { isUp && isPowered != false && !hasNoAddress }
}

extension DoctorFacts.RadioSwitch {
  var isBlocked: Bool { isSoftBlocked || isHardBlocked }
}
