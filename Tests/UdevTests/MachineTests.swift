import Foundation
import TestSupport
import Testing

/// In the emulated machine, where a udev of our own may run and change anything: the real rules, the real devices.
@Suite(
  "udev's rules at work", .serialized,
  .machine("--adapters 2", alone: true))
struct MachineTests {
  /// Waits until the condition holds: udev takes its time to hear of an event, and `udevadm settle` waits only for
  /// events that it has heard of.
  static func comes(_ condition: String) throws -> Bool {
    try Command("timeout", "20", "sh", "-c", "until \(condition); do sleep 0.1; done").status == 0
  }

  /// A folder to be put first in PATH, with an udevadm that loses the first event for Bluetooth.
  static func lossyCommands() throws -> Folder {
    let folder = try Folder()
    let script = """
      #!/bin/sh
      case "$*" in trigger*bluetooth*) [ -e "$0.lost" ] || { : >"$0.lost"; exit 0; } ;; esac
      exec \(try Command("sh", "-c", "command -v udevadm").lines.first ?? "") "$@"
      """
    try script.write(toFile: folder.path + "/udevadm", atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path + "/udevadm")
    return folder
  }

  @Test(
    "rfkill belongs to the group, and a marked adapter can be found by its tag, until all is uninstalled, also where events get lost",
    arguments: [false, true])
  func installedRulesWork(losesEvents: Bool) throws {
    let first = try #require(Machine.adapters.first)
    let udevd = try #require(Machine.udevd)
    try #require(
      try Command("sh", "-c", "getent group bluetooth >/dev/null || groupadd --system bluetooth").status == 0)

    let daemon = Process()
    daemon.executableURL = URL(filePath: udevd)
    daemon.standardOutput = FileHandle.nullDevice
    daemon.standardError = FileHandle.nullDevice
    try daemon.run()
    defer {
      daemon.terminate()
      daemon.waitUntilExit()
    }
    try #require(
      try Command("timeout", "20", "sh", "-c", "until [ -S /run/udev/control ]; do sleep 0.1; done").status == 0)

    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    var lossy = try Self.lossyCommands()
    let installed = try Command(
      "Tools/install-udev", "--adapter", first, "--keep-awake",
      environment: losesEvents ? ["PATH": "\(lossy.path):\(path)"] : [:], seconds: 120)
    #expect(installed.status == 0, "\(installed.output)")
    #expect(try Command("udevadm", "info", "/sys/class/bluetooth/\(first)").output.contains("PICONET_ADAPTER=1"))
    #expect(try Self.comes("[ \"$(stat -c %G /dev/rfkill)\" = bluetooth ]"))
    #expect(try Command("stat", "-c", "%a %G", "/dev/rfkill").output == "664 bluetooth\n")
    let rfkill = try Command("udevadm", "info", "/sys/class/misc/rfkill").output
    #expect(rfkill.contains("uaccess"))
    let adapter = try Command("udevadm", "info", "/sys/class/bluetooth/\(first)").output
    #expect(adapter.contains("PICONET_ADAPTER=1"))
    let tagged = try Command(
      "udevadm", "trigger", "--dry-run", "--verbose", "--subsystem-match=bluetooth", "--tag-match=piconet-adapter")
    #expect(tagged.output == "/sys/devices/virtual/bluetooth/\(first)\n")
    // udev's own reading of the rules says so, too.
    let tested = try Command("udevadm", "test", "--action=add", "/sys/class/bluetooth/\(first)")
    #expect(tested.output.contains("PICONET_ADAPTER=1"))
    #expect(!tested.lines.contains { $0.contains("72-piconet") && $0.contains("nvalid") }, "\(tested.output)")

    lossy = try Self.lossyCommands()
    let uninstalled = try Command(
      "Tools/install-udev", "--uninstall", environment: losesEvents ? ["PATH": "\(lossy.path):\(path)"] : [:],
      seconds: 120)
    #expect(uninstalled.status == 0, "\(uninstalled.output)")
    // It is done already: there is nothing to wait for.
    #expect(try !Command("udevadm", "info", "/sys/class/bluetooth/\(first)").output.contains("PICONET_ADAPTER"))
    #expect(try Command("sh", "-c", "ls /etc/udev/rules.d | grep -c piconet").output == "0\n")
  }
}
