import Foundation
import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine
@testable import PiconetTerminal

/// A machine on which everything is as it should be.
private let good = DoctorFacts(
  kernelRelease: "6.12.1", hasKernelModule: true,
  adapters: [.init(name: "hci0", address: "00:AA:01:00:00:00", isPowered: true, advertisements: 5)],
  switches: [.init(name: "hci0")], isDaemonRunning: true, daemonVersion: "5.66", bus: .answered, servesSDP: true,
  mayUseRadioSwitch: true, isInBluetoothGroup: true,
  interfaces: [.init(name: "lo", isLoopback: true, hasMulticast: false), .init(name: "eth0")])

private func changed(_ change: (inout DoctorFacts) -> Void) -> DoctorFacts {
  var facts = good
  change(&facts)
  return facts
}

extension DoctorFacts {
  fileprivate func finding(_ word: String) -> Finding? { findings.first { $0.word == word } }
}

@Suite("What the doctor makes of the facts")
struct DoctorTests {
  @Test("a good machine has nothing but ok, over both ways")
  func allIsWell() {
    #expect(good.findings.allSatisfy { $0.severity == .ok && $0.advice == nil })
    #expect(good.findings.last == Finding("sum.both", .ok, "others can be reached over TCP and over Bluetooth"))
    #expect(DoctorProgram.exitStatus(good.findings) == 0)
    #expect(good.finding("bluetoothd.running")?.text == "bluetoothd 5.66 is running")
  }

  @Test("a kernel with Landlock is fine, and one without it a warning with the reason")
  func confinement() {
    #expect(good.finding("confinement.landlock") == nil && good.finding("confinement.missing") == nil)
    let finding = changed { $0.landlock = .usable(2) }.finding("confinement.landlock")
    #expect(finding?.severity == .ok && finding?.text.contains("version 2") == true)
    let missing = changed { $0.landlock = .missing("its Landlock is turned off") }
    #expect(missing.finding("confinement.missing")?.severity == .warning)
    #expect(missing.finding("confinement.missing")?.text.hasSuffix(": its Landlock is turned off") == true)
    #expect(DoctorProgram.exitStatus(missing.findings) == 0)
  }

  @Test("a kernel without Bluetooth is a warning with fitting advice, and hides the findings that depend on it")
  func kernel() {
    for (module, advice) in [
      (true as Bool?, "modprobe bluetooth"), (false, "install linux-image-amd64"), (nil, "CONFIG_BT"),
    ] {
      let facts = changed {
        $0.l2capFailure = "Address family not supported by protocol"
        $0.hasKernelModule = module
        $0.adapters = []
      }
      #expect(facts.finding("kernel.sockets")?.severity == .warning)
      #expect(facts.finding("kernel.sockets")?.advice?.contains(advice) == true)
      #expect(!facts.findings.contains { ["adapter", "bluetoothd", "dbus", "sdp", "permission"].contains($0.area) })
      #expect(facts.findings.last?.word == "sum.tcp")
      #expect(DoctorProgram.exitStatus(facts.findings) == 0)
    }
    #expect(changed { $0.rfcommFailure = "Protocol not supported" }.finding("kernel.rfcomm")?.severity == .warning)
    let bare = changed {
      $0.hasBluetoothBuild = false
      $0.adapters = []
    }
    #expect(bare.finding("kernel.build")?.severity == .warning)
  }

  @Test("a bluetoothd that takes no profile is a warning with the reason and what to do")
  func profiles() {
    let facts = changed { $0.profileRefusal = "org.freedesktop.DBus.Error.AccessDenied" }
    #expect(facts.finding("dbus.profiles")?.severity == .warning)
    #expect(facts.finding("dbus.profiles")?.text.contains("AccessDenied") == true)
    #expect(facts.finding("dbus.profiles")?.advice?.contains("ProfileManager1") == true)
    #expect(good.finding("dbus.profiles") == nil)
  }

  @Test("a bluetoothd that is stopped is a problem, serves no records, and is no way to reach others, also for root")
  func frozenDaemon() {
    let facts = changed {
      $0.bus = .refused("org.freedesktop.DBus.Error.NoReply")
      $0.isDaemonStopped = true
      ($0.isRoot, $0.hasNetAdmin, $0.hasNetRaw) = (true, true, true)
    }
    #expect(facts.finding("bluetoothd.frozen")?.severity == .problem)
    #expect(facts.finding("bluetoothd.frozen")?.advice?.contains("pkill -CONT") == true)
    #expect(facts.finding("sdp.served") == nil && facts.finding("sdp.silent")?.severity == .warning)
    #expect(facts.findings.last?.word == "sum.tcp")
    let busy = changed {
      $0.bus = .refused("org.freedesktop.DBus.Error.NoReply")
      ($0.hasNetAdmin, $0.hasNetRaw) = (true, true)
    }
    #expect(busy.finding("dbus.failed")?.severity == .problem && busy.finding("sdp.served") == nil)
    #expect(busy.findings.last?.word == "sum.tcp")
  }

  @Test("the doctor says whether a pairing agent runs, and what that means for connections")
  func agent() {
    let without = changed { $0.adapters[0].isPairable = false }.finding("adapter.pairable")
    #expect(without?.severity == .ok && without?.text.contains("no pairing agent") == true)
    let with = changed { $0.adapters[0].isPairable = true }.finding("adapter.pairable")
    #expect(with?.severity == .ok && with?.text.contains("has a pairing agent") == true)
    #expect(good.finding("adapter.pairable") == nil)
  }

  @Test("no adapter is a warning, one that no driver has taken a problem")
  func noAdapter() {
    #expect(changed { $0.adapters = [] }.finding("adapter.none")?.severity == .warning)
    let facts = changed {
      $0.adapters = []
      $0.driverlessDevices = ["8087:0a2b"]
    }
    #expect(facts.finding("adapter.none") == nil)
    #expect(facts.finding("adapter.driver")?.text.contains("8087:0a2b") == true)
    #expect(DoctorProgram.exitStatus(facts.findings) == 1)
  }

  @Test("an adapter without an address misses firmware")
  func firmware() {
    let facts = changed { $0.adapters[0].address = "00:00:00:00:00:00" }
    #expect(facts.finding("adapter.firmware")?.severity == .problem)
    #expect(facts.finding("adapter.up") == nil)
    #expect(facts.findings.last?.word == "sum.tcp")
  }

  @Test("an adapter that is off is a problem; a block is named as the thing to mend first")
  func down() {
    let off = changed { $0.adapters[0].isUp = false }
    #expect(off.finding("adapter.down")?.advice?.hasPrefix("bluetoothctl power on") == true)
    #expect(changed { $0.adapters[0].isPowered = false }.finding("adapter.down")?.severity == .problem)
    let other = DoctorFacts.Adapter(name: "hci1", address: "00:AA:01:01:00:01", isUp: false)
    let spare = changed { $0.adapters.append(other) }
    #expect(spare.finding("adapter.down")?.severity == .warning)
    #expect(spare.findings.last?.word == "sum.both")
    let alone = changed {
      $0.adapters[0].isUp = false
      $0.isDaemonRunning = false
    }
    #expect(alone.finding("adapter.down")?.advice?.hasPrefix("start bluetoothd, or: sudo hciconfig hci0 up") == true)
    let blocked = changed {
      $0.adapters[0].isUp = false
      $0.switches[0].isSoftBlocked = true
    }
    #expect(blocked.finding("adapter.down")?.advice == "unblock it first, see below")
    #expect(blocked.finding("rfkill.soft")?.advice == "rfkill unblock bluetooth")
  }

  @Test("rfkill: soft and hard blocks are problems, and a user without the right to unblock is told so")
  func rfkill() {
    let soft = changed {
      $0.switches[0].isSoftBlocked = true
      $0.mayUseRadioSwitch = false
    }
    #expect(soft.finding("rfkill.soft")?.advice?.hasPrefix("sudo rfkill unblock bluetooth") == true)
    let hard = changed {
      $0.switches[0].isSoftBlocked = true
      $0.switches[0].isHardBlocked = true
      $0.adapters[0].isUp = false
    }
    #expect(hard.finding("rfkill.hard")?.severity == .problem)
    #expect(hard.finding("rfkill.soft") == nil)
    #expect(hard.findings.last?.word == "sum.tcp")
  }

  @Test("an adapter of one kind only is a warning; without places for LE advertising too")
  func kinds() {
    #expect(changed { $0.adapters[0].hasLE = false }.finding("adapter.le")?.severity == .warning)
    #expect(changed { $0.adapters[0].hasBREDR = false }.finding("adapter.bredr")?.severity == .warning)
    for count in [nil, 0] as [Int?] {
      let facts = changed { $0.adapters[0].advertisements = count }
      #expect(facts.finding("adapter.advertising")?.severity == .warning)
    }
    #expect(
      changed { $0.adapters[0].isDiscoverable = true }.finding("adapter.discoverable")?.text == "hci0 is discoverable")
  }

  @Test("bluetoothd that does not run is a problem, unless the headless way is possible")
  func daemon() {
    let stopped = changed {
      $0.isDaemonRunning = false
      $0.bus = .refused("org.freedesktop.DBus.Error.ServiceUnknown")
      $0.servesSDP = false
    }
    #expect(stopped.finding("bluetoothd.stopped")?.severity == .problem)
    #expect(stopped.finding("sdp.silent")?.severity == .warning)
    #expect(stopped.finding("permission.headless")?.severity == .warning)
    #expect(stopped.finding("dbus.absent") == nil)
    #expect(stopped.findings.last?.word == "sum.tcp")
    var headless = stopped
    headless.hasNetAdmin = true
    headless.hasNetRaw = true
    #expect(headless.finding("bluetoothd.stopped")?.severity == .warning)
    #expect(headless.findings.last?.word == "sum.both")
  }

  @Test("each way in which D-Bus fails is a problem of its own, with its own advice")
  func bus() {
    let denied = "org.freedesktop.DBus.Error.AccessDenied"
    for (member, advice) in [
      (true as Bool?, "log in anew"), (false, "adduser $USER bluetooth"), (nil, "/etc/dbus-1/system.d/bluetooth.conf"),
    ] {
      let facts = changed {
        $0.bus = .refused(denied)
        $0.isInBluetoothGroup = member
      }
      #expect(facts.finding("dbus.denied")?.severity == .problem)
      #expect(facts.finding("dbus.denied")?.advice?.contains(advice) == true)
      #expect(facts.findings.last?.word == "sum.tcp")
    }
    #expect(changed { $0.bus = .silent }.finding("dbus.silent")?.severity == .problem)
    #expect(
      changed { $0.bus = .unreachable("No such file or directory") }.finding("dbus.unreachable")?.severity == .problem)
    #expect(changed { $0.bus = .refused("org.bluez.Error.X") }.finding("dbus.failed")?.text.contains("Error.X") == true)
    let absent = changed { $0.bus = .refused("org.freedesktop.DBus.Error.ServiceUnknown") }
    #expect(absent.finding("dbus.absent")?.severity == .problem)
  }

  @Test("TCP: an interface that others are on, the port of Multicast DNS, and what filters")
  func network() {
    let alone = changed { $0.interfaces = Array(good.interfaces.prefix(1)) }
    #expect(alone.finding("network.none")?.severity == .warning)
    #expect(alone.findings.last?.word == "sum.bluetooth")
    for spoil in [
      { $0.interfaces[1].isUp = false }, { $0.interfaces[1].hasMulticast = false },
      { $0.interfaces[1].hasIPv4 = false }, { $0.interfaces[1].canHavePeers = false },
      { $0.chosenInterfaces = ["wlan0"] },
    ] as [(inout DoctorFacts) -> Void] {
      #expect(changed(spoil).finding("network.none") != nil)
    }
    #expect(changed { $0.chosenInterfaces = ["lo"] }.finding("network.loopback")?.severity == .warning)
    let taken = changed { $0.multicast.ipv4Failure = "Address already in use" }
    #expect(taken.finding("network.port")?.severity == .warning)
    #expect(taken.findings.last?.word == "sum.bluetooth")
    for (firewall, advice) in [
      ("ufw", "ufw allow"), ("firewalld", "firewall-cmd"), ("nftables", "nft list"), ("iptables", "iptables -L"),
    ] {
      let facts = changed { $0.firewalls = [firewall] }
      #expect(facts.finding("firewall.present")?.advice?.contains(advice) == true)
      #expect(DoctorProgram.exitStatus(facts.findings) == 0)
    }
  }

  @Test("a damaged line of the known peers is a warning with its place, and a file that can't be read a problem")
  func knownPeers() throws {
    let lines = (1...5).map { "/state/known-peers:\($0): half a line" }
    let findings = changed { $0.knownPeers = .damaged(lines) }.findings.filter { $0.area == "known-peers" }
    #expect(findings.map(\.word) == Array(repeating: "known-peers.damaged", count: 3))
    #expect(findings.allSatisfy { $0.severity == .warning && $0.advice?.contains("remove it") == true })
    #expect(findings.first?.text == "/state/known-peers:1: half a line; the device in it counts as unknown")
    #expect(findings.last?.text.hasSuffix("counts as unknown; 2 more are damaged") == true)
    let unreadable = changed { $0.knownPeers = .unreadable("/state/known-peers: say: chmod 600") }
    #expect(unreadable.finding("known-peers.unreadable")?.text.hasSuffix("say: chmod 600") == true)
    #expect(DoctorProgram.exitStatus(unreadable.findings) == 1)
  }

  @Test("the doctor reads the known peers of this user, and creates no folder for them")
  func knownPeersFile() async throws {
    let folder = try TemporaryFolder()
    let environment = ProgramEnvironment(
      variable: { ["XDG_STATE_HOME": folder.path, "PICONET_INTERFACES": "lo"][$0] }, hostName: "desk")
    func known() async -> DoctorFacts.KnownPeers? {
      await onItsOwnThread { DoctorFacts.collected(environment).knownPeers }
    }
    #expect(await known() == .readable)
    let state = folder.path + "/piconet"
    #expect(!FileManager.default.fileExists(atPath: state))
    try FileManager.default.createDirectory(
      atPath: state, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let path = state + "/known-peers"
    let mode = [FileAttributeKey.posixPermissions: 0o600]
    #expect(FileManager.default.createFile(atPath: path, contents: Data(), attributes: mode))
    guard case .unreadable(let words) = await known() else {
      Issue.record("an empty file was taken")
      return
    }
    #expect(words.hasPrefix("\(path): a part is missing: it is empty"), "\(words)")
    let text = "piconet-known-peers 3\nhalf\npiconet-known-peers end 1\n"
    #expect(FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: mode))
    guard case .damaged(let lines) = await known() else {
      Issue.record("half a line was taken")
      return
    }
    #expect(lines.count == 1 && lines[0].hasPrefix("\(path):2: not a fingerprint, a name, a number, "), "\(lines)")
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
    guard case .unreadable(let reason) = await known() else {
      Issue.record("a file that all may write was taken")
      return
    }
    #expect(reason.hasPrefix(path + ": "))
  }

  @Test("the lack of both Bluetooth and a network is a problem, except on a machine kept to loopback")
  func nothing() {
    let facts = changed {
      $0.l2capFailure = "Address family not supported by protocol"
      $0.adapters = []
      $0.interfaces = Array(good.interfaces.prefix(1))
    }
    #expect(facts.findings.last?.word == "sum.none")
    #expect(DoctorProgram.exitStatus(facts.findings) == 1)
    var chosen = facts
    chosen.chosenInterfaces = ["lo"]
    #expect(DoctorProgram.exitStatus(chosen.findings) == 0)
  }

  @Test("whatever is not ok says what to do, in one line")
  func advice() {
    let spoils: [(inout DoctorFacts) -> Void] = [
      { $0.l2capFailure = "x" }, { $0.rfcommFailure = "x" }, { $0.adapters = [] }, { $0.adapters[0].isUp = false },
      { $0.adapters[0].hasLE = false }, { $0.bus = .silent }, { $0.servesSDP = false }, { $0.interfaces = [] },
      { $0.multicast.ipv4Failure = "x" }, { $0.firewalls = ["ufw"] }, { $0.switches[0].isHardBlocked = true },
      { $0.knownPeers = .damaged(["x"]) }, { $0.knownPeers = .unreadable("x") },
    ]
    for spoil in spoils {
      let findings = changed(spoil).findings
      #expect(findings.contains { $0.severity != .ok })
      for finding in findings {
        #expect(finding.severity == .ok || finding.advice != nil, "\(finding.word)")
        #expect(!finding.text.contains("\n") && finding.advice?.contains("\n") != true)
      }
    }
  }

  @Test("a port that is taken over one family leaves the other; over both, others are found and don't find us")
  func takenPort() {
    let words = "Address already in use"
    var facts = changed {
      $0.adapters = []
      $0.interfaces[1].hasIPv6 = true
      $0.multicast.ipv4Failure = words
    }
    #expect(facts.finding("network.port")?.text == "UDP port 5353 can't be shared over IPv4: \(words)")
    #expect(facts.finding("network.port")?.advice?.hasSuffix("until then IPv6 is used") == true)
    #expect(facts.findings.last?.word == "sum.tcp")
    facts.multicast.ipv6Failure = words
    #expect(facts.finding("network.port")?.text == "UDP port 5353 can't be shared: \(words)")
    #expect(facts.findings.last?.word == "sum.address" && facts.findings.last?.severity == .warning)
    facts.multicast.ipv4Failure = nil
    facts.interfaces[1].hasIPv6 = false
    // The kernel has no IPv6.
    #expect(facts.finding("network.port")?.severity == .ok && facts.findings.last?.word == "sum.tcp")
  }

  @Test("if Avahi has the port, the doctor says whether Avahi publishes for us, and what helps if not")
  func avahi() {
    var facts = changed {
      $0.adapters = []
      $0.interfaces[1].hasIPv6 = true
      $0.multicast.ipv4Failure = "Address already in use"
      $0.multicast.ipv6Failure = "Address already in use"
      $0.multicast.avahi = .publishes
    }
    #expect(facts.finding("network.port")?.severity == .ok)
    #expect(facts.finding("network.port")?.text.contains("Avahi publishes and looks for peers there instead") == true)
    #expect(facts.findings.last?.word == "sum.tcp")
    for failure in [
      AvahiFailure.notBuilt, .noBus("No such file"), .notOnBus, .refused("policy"), .silent, .unpublished,
    ] {
      facts.multicast.avahi = .fails(failure)
      let finding = facts.finding("network.port")
      #expect(finding?.severity == .warning && finding?.text.hasSuffix("\(failure)") == true)
      #expect(finding?.advice?.contains(failure.advice) == true)
      #expect(facts.findings.last?.word == "sum.address")
    }
  }

  @Test("a firewall that drops what goes out is found without its rules, and is in the way of TCP")
  func killSwitch() {
    let facts = changed {
      $0.adapters = []
      $0.multicast.blockedInterfaces = ["eth0"]
    }
    #expect(facts.finding("firewall.blocks")?.text.hasSuffix("sends to others on eth0") == true)
    #expect(facts.finding("firewall.none") == nil && facts.findings.last?.word == "sum.none")
  }

  @Test("an interface on which the program that runs hears nothing is named, one where only others run is not")
  func deafInterface() {
    let igmp = """
      Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter
      1\tlo        :     1      V3
      \t\t\t\tFB0000E0     1 0:00000000\t\t0
      \t\t\t\t010000E0     1 0:00000000\t\t0
      2\teth0      :     1      V3
      \t\t\t\t010000E0     1 0:00000000\t\t0
      """
    #expect(MulticastDNSFacts.ipv4Members(of: igmp) == ["lo"])
    let igmp6 =
      "1    lo              ff020000000000000000000000000001     1 0000000C 0\n"
      + "2    eth0            ff0200000000000000000000000000fb     1 00000004 0\n"
    #expect(MulticastDNSFacts.ipv6Members(of: igmp6) == ["eth0"])
    for junk in ["", "a", "a\n\t\n\tFB0000E0\nb\nc d", igmp6] { _ = MulticastDNSFacts.ipv4Members(of: junk) }
    for junk in ["", "a b", "\n\n", igmp] { _ = MulticastDNSFacts.ipv6Members(of: junk) }
    var facts = changed {
      $0.multicast.isPiconetRunning = true
      $0.multicast.heardOnIPv4 = MulticastDNSFacts.ipv4Members(of: igmp)
      $0.multicast.heardOnIPv6 = []
    }
    #expect(facts.finding("network.deaf")?.text.hasSuffix("hears nothing on eth0") == true)
    facts.interfaces[1].hasIPv6 = true
    facts.multicast.heardOnIPv6 = ["eth0"]
    #expect(facts.finding("network.deaf") == nil)
    facts.multicast.heardOnIPv6 = []
    facts.multicast.isPiconetRunning = false
    #expect(facts.finding("network.deaf") == nil)
  }

  @Test("people see a line and what to do below it, programs an object a line")
  func output() throws {
    let finding = Finding("rfkill.soft", .problem, "hci0 is blocked", advice: "rfkill unblock bluetooth")
    #expect(
      DoctorProgram.humanText([finding])
        == "problem  rfkill      hci0 is blocked\n         -> rfkill unblock bluetooth\n")
    #expect(
      DoctorProgram.jsonLine(finding)
        == #"{"finding":"rfkill.soft","severity":"problem","text":"hci0 is blocked","advice":"rfkill unblock bluetooth"}"#
        + "\n")
  }

  @Test("an interface whose name is an escape sequence shows as text, and adds no line")
  func hostileInterface() {
    let facts = changed { $0.interfaces.append(.init(name: "x\u{1B}[2J\n")) }
    let text = DoctorProgram.humanText(facts.findings)
    #expect(text.contains("looked for on eth0, x\\u{1b}[2J\\n\n"), "\(text)")
    #expect(!text.unicodeScalars.contains("\u{1B}"))
    for line in facts.findings.map(DoctorProgram.jsonLine) { #expect(!line.unicodeScalars.contains("\u{1B}")) }
  }

  @Test("looking at this machine gives a verdict")
  func thisMachine() async {
    let findings = await onItsOwnThread { DoctorFacts.collected(.current).findings }
    #expect(findings?.last?.area == "sum")
  }

  @Test("what hangs is given up in time")
  func inTime() async {
    let (gate, open) = AsyncStream<Never>.makeStream()
    let slow = InTime { () async -> Int in
      for await _ in gate {}
      return 1
    }
    #expect(await onItsOwnThread { slow?.value(until: .now + .milliseconds(50)) } == .some(nil))
    open.finish()
    #expect(await onItsOwnThread { slow?.value(until: .now + .seconds(60)) } == 1)
  }
}
