import Foundation
import Testing

/// The virtual machine of Tools/bluetooth-vm, whose weather, adapters and bluetoothd a test may change.
enum VirtualMachine {
  private static let environment = ProcessInfo.processInfo.environment

  static let adapters = (environment["PICONET_ADAPTERS"] ?? "").split(separator: ",").map(String.init)

  /// With `--hosts`: the bus of each host, which has one adapter, in the adapters' order.
  static let buses = (environment["PICONET_BUSES"] ?? "").split(separator: ",").map(String.init)

  struct Result {
    var status: Int32
    var output: String
  }

  /// Without Foundation's Process, whose wait for the end of a command does not always return here.
  @discardableResult
  static func shell(_ command: String, seconds: Int = 60) async throws -> Result {
    let process = try ToolProcess(
      "/usr/bin/env", ["timeout", "-k", "2", "\(seconds)", "sh", "-c", "exec 2>&1; \(command)"],
      environment: environment)
    let status = await process.end(within: .seconds(seconds + 10))
    return Result(status: try #require(status, "\(command) did not end"), output: process.output)
  }

  /// Asks for bad weather, or good: see Tools/BluetoothVM/fault.
  static func fault(_ request: String) async throws {
    let word = request.prefix { $0 != " " }
    guard ["on", "off"].contains(word) || word.hasPrefix("daemon") else { return try Air.make(request) }
    let result = try await shell("fault \(request)")
    try #require(result.status == 0, "fault \(request): \(result.output)")
  }

  /// Asks until the command succeeds; false if it does not in time. What takes long is asked for seldom: starting
  /// programs is expensive on an emulated processor.
  static func becomes(within seconds: Int = 20, _ command: String) async throws -> Bool {
    let pause = seconds > 30 ? "1" : "0.1"
    return try await shell("until { \(command); } >/dev/null 2>&1; do sleep \(pause); done", seconds: seconds).status
      == 0
  }

  private static func adapterCall(_ adapter: String, _ words: String) -> String {
    "dbus-send --system --print-reply=literal --dest=org.bluez /org/bluez/\(adapter) org.freedesktop.DBus.Properties.\(words)"
  }

  static func setPowered(_ adapter: String, _ isOn: Bool) async throws {
    try await shell(
      adapterCall(adapter, "Set string:org.bluez.Adapter1 string:Powered variant:boolean:\(isOn)"), seconds: 20)
  }

  /// Sets what others are told when they ask the device for its name, by bluetoothd and by the controller itself;
  /// empty: the name as it was.
  static func setName(_ adapter: String, _ name: String) async throws {
    let octal = name.utf8.map { byte in "\\0" + String(byte, radix: 8) }.joined()
    let result = try await shell(
      """
      name=$(printf '%b.' '\(octal)') && name=${name%.}
      \(adapterCall(adapter, "Set string:org.bluez.Adapter1 string:Alias variant:string:\"$name\"")) &&
      if [ -n "$name" ]; then hciconfig \(adapter) name "$name"; fi
      """)
    try #require(result.status == 0, "\(result.output)")
  }

  /// In which ways bluetoothd uses the adapters.
  enum Controllers: String, Sendable {
    /// BR/EDR only. With LE on, attempts to connect sometimes get no answer for a while between emulated adapters; and
    /// bluetoothd 5.66 ends by itself when an adapter with an LE advertisement is switched off.
    case classic = "bredr"
    /// BR/EDR and LE, as by default.
    case dual
  }

  /// Sets this for bluetoothd, and starts it anew if it was set otherwise.
  static func setControllers(_ controllers: Controllers) async throws {
    let line = "ControllerMode = \(controllers.rawValue)"
    let result = try await shell(
      """
      grep -q '^\(line)' /etc/bluetooth/main.conf && exit
      sed -i 's/^#\\{0,1\\} *ControllerMode *=.*/\(line)/' /etc/bluetooth/main.conf
      grep -q '^\(line)' /etc/bluetooth/main.conf || exit
      fault daemon-stop
      fault daemon-start
      """)
    try #require(result.status == 0, "\(result.output)")
  }

  /// Makes all adapters forget one another, as if they had never met.
  static func forgetDevices() async throws {
    for adapter in adapters {
      try await shell(
        """
        for device in $(dbus-send --system --print-reply --dest=org.bluez / org.freedesktop.DBus.ObjectManager.GetManagedObjects |
          grep -o '/org/bluez/\(adapter)/dev_[0-9A-F_]*"' | tr -d '"' | sort -u); do
          dbus-send --system --print-reply --dest=org.bluez /org/bluez/\(adapter) org.bluez.Adapter1.RemoveDevice objpath:$device
        done
        """)
    }
  }

  /// Switches the adapter on as a person does, and repeats it until it is on.
  static func powerOn(_ adapter: String) async throws {
    let isOn = adapterCall(adapter, "Get string:org.bluez.Adapter1 string:Powered")
    let power = adapterCall(adapter, "Set string:org.bluez.Adapter1 string:Powered variant:boolean:true")
    let isDone = try await becomes("\(isOn) | grep -q true || { \(power); false; }")
    try #require(isDone, "\(adapter) is not powered")
  }

  /// A command that succeeds while a program scans with the adapter.
  static func isDiscovering(_ adapter: String) -> String {
    adapterCall(adapter, "Get string:org.bluez.Adapter1 string:Discovering") + " | grep -q true"
  }

  /// A command that succeeds while an L2CAP channel to this number is open, as the kernel shows it: source,
  /// destination, state (1: connected), number.
  static func channel(_ number: Int) -> String { "grep -q ') 1 \(number) ' /sys/kernel/debug/bluetooth/l2cap" }

  /// Starts bluetoothd if it is not there, as systemd does elsewhere.
  static func ensureDaemon() async throws {
    if try await shell("pidof bluetoothd").status != 0 { try await fault("daemon-start >/dev/null 2>&1") }
  }

  /// Makes the weather good, whatever a test has made of it, with every adapter there and up.
  static func clear() async throws {
    for request in ["rate 0", "delay 0", "paging 5120", "supervision 20000"] { try Air.make(request) }
    for one in adapters.indices {
      for other in adapters.indices where other != one { try Air.make("unmute \(one) \(other)") }
      try Air.make("accept \(one)")
      // Refused unless the adapter is gone.
      try Air.ask("back \(one)")
    }
    try await shell(
      """
      ip link set lo up
      [ -e /sys/kernel/debug/bluetooth ] || mount -t debugfs none /sys/kernel/debug
      for adapter in \(adapters.joined(separator: " ")); do
        hciconfig $adapter | grep -q 'UP RUNNING' || fault on ${adapter#hci}
      done
      """)
    try await ensureDaemon()
    for adapter in adapters { try await powerOn(adapter) }
  }

  /// What bluetoothd says of each adapter, as far as our programs may change it.
  static func state() async throws -> [String] {
    let questions = adapters.flatMap { adapter in
      ["Adapter1", "LEAdvertisingManager1"].map { interface in
        "echo \(adapter) $(\(adapterCall(adapter, "GetAll string:org.bluez.\(interface)")) | tr -s ' \\n' '\\n' | sort)"
      }
    }
    return try await shell(questions.joined(separator: "\n")).output.split(separator: "\n").map(String.init)
  }
}
