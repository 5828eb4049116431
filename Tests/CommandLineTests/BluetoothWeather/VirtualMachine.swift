import Foundation
import Testing

/// The virtual machine of Tools/bluetooth-vm, whose weather, adapters and bluetoothd a test may change.
enum VirtualMachine {
  private static let environment = ProcessInfo.processInfo.environment

  static let adapters = (environment["PICONET_ADAPTERS"] ?? "").split(separator: ",").map(String.init)

  static let isHere = environment["PICONET_BLUETOOTH_VM"] == "1" && adapters.count >= 2 && geteuid() == 0

  static let reason: Comment =
    "changes adapters and bluetoothd, so it runs in the virtual machine only: Tools/test --bluetooth"

  struct Result {
    var status: Int32
    var output: String
  }

  @discardableResult
  static func shell(_ command: String, seconds: Int = 60) throws -> Result {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["timeout", "-k", "2", "\(seconds)", "sh", "-c", command]
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Result(status: process.terminationStatus, output: String(decoding: bytes, as: UTF8.self))
  }

  /// Asks for bad weather, or good: see Tools/BluetoothVM/fault.
  static func fault(_ request: String) throws {
    let result = try shell("fault \(request)")
    try #require(result.status == 0, "fault \(request): \(result.output)")
  }

  /// Asks until the command succeeds; false when it does not in time.
  static func becomes(within seconds: Int = 20, _ command: String) throws -> Bool {
    try shell("until { \(command); } >/dev/null 2>&1; do sleep 0.1; done", seconds: seconds).status == 0
  }

  /// As systemd does elsewhere: bluetoothd 5.66 aborts when an adapter that advertises by LE is switched off.
  static func ensureDaemon() throws {
    if try shell("pidof bluetoothd").status != 0 { try fault("daemon-start >/dev/null 2>&1") }
  }

  /// Good weather, whatever a test has made; every adapter is there and up.
  static func clear() throws {
    try shell(
      """
      fault rate 0; fault delay 0; fault paging 5120; fault supervision 20000; ip link set lo up
      for one in 0 1 2 3; do
        for other in 0 1 2 3; do [ $one = $other ] || fault unmute $one $other; done
        fault accept $one
        fault back $one
      done >/dev/null 2>&1
      """)
    for adapter in adapters where try shell("hciconfig \(adapter) | grep -q 'UP RUNNING'").status != 0 {
      try shell("fault on \(adapter.dropFirst(3))")
    }
    try ensureDaemon()
    for adapter in adapters {
      #expect(try becomes("hciconfig \(adapter) | grep -q 'UP RUNNING'"), "\(adapter)")
    }
  }

  /// What bluetoothd says of an adapter, as far as a program of ours may change it.
  static func state(_ adapter: String) throws -> [String] {
    let properties = [
      "Adapter1": ["Powered", "Discoverable", "DiscoverableTimeout", "Discovering", "UUIDs"],
      "LEAdvertisingManager1": ["ActiveInstances"],
    ]
    let questions = properties.sorted { $0.key < $1.key }.flatMap { interface, names in
      names.map { name in
        "echo \(name) $(dbus-send --system --print-reply=literal --dest=org.bluez /org/bluez/\(adapter) "
          + "org.freedesktop.DBus.Properties.Get string:org.bluez.\(interface) string:\(name) | "
          + "tr -s ' \\n' '\\n' | sort)"
      }
    }
    return try shell(questions.joined(separator: "\n")).output.split(separator: "\n").map(String.init)
  }
}
