import Glibc
import PiconetSDP
import Testing

@testable import PiconetBluetooth

/// The adapters that tests may use: PICONET_ADAPTERS, such as `hci0,hci1`.
enum VirtualAdapters {
  static let names: [String] = (getenv("PICONET_ADAPTERS").map { String(cString: $0) } ?? "")
    .split(separator: ",").map(String.init)

  static func device(_ index: Int) throws -> BluetoothAddress {
    try #require(try AdapterTable.read().adapter(.named(names[index]))).device
  }
}

extension VirtualAdapters {
  /// Lets the first adapters be paged, and the second be connected to over LE: an adapter that is only switched on
  /// accepts no connections. One that is off or gone stays so. The emulated air gets a radio's rate: if it were as
  /// quick as a processor, a writer would overrun a reader on the same loop.
  static func makeReachable(_ count: Int = 2) throws {
    let table = try AdapterTable.read()
    for name in names.prefix(count) where table.adapter(.named(name))?.isUp == true {
      try runProgram("hciconfig", name, "piscan")
      if name == names[1] { try advertise(name) }
    }
    if hasFaults { try fault("rate", "1000000") }
  }

  /// Advertises that it can be connected to over LE, with the commands of Core 5.4, Vol 4 Part E 7.8.53 and 7.8.56: the
  /// older ones, which `hciconfig leadv` uses, are not heard by emulated adapters that scan with the newer ones.
  /// Harmless if it advertises already.
  /// - Parameter ends: stops advertising instead.
  static func advertise(_ name: String, ends: Bool = false) throws {
    if ends { return try runProgram("hcitool", "-i", name, "cmd", "08", "0039", "00", "01", "01", "00", "00") }
    let (set, interval, anyone) = (["01"], ["a0", "00", "00"], ["00", "00", "00", "00", "00", "00", "00", "00"])
    try runProgram(
      ["hcitool", "-i", name, "cmd", "08", "0036"] + set + ["13", "00"] + interval + interval + ["07", "00"] + anyone
        + ["7f", "01", "00", "01", "00", "00"])
    try runProgram(["hcitool", "-i", name, "cmd", "08", "0039", "01", "01"] + set + ["00", "00", "00"])
  }

  /// Connects one adapter to another over LE, by a command of the host (Core 5.4, Vol 4 Part E 7.8.66) with usual
  /// parameters.
  static func connectLE(from index: Int, to other: Int) throws {
    let peer = try (0..<6).map { String(UInt8(truncatingIfNeeded: try device(other).rawValue >> (8 * $0)), radix: 16) }
    try runProgram(
      ["hcitool", "-i", names[index], "cmd", "08", "0043", "00", "00", "00"] + peer
        + ["01", "60", "00", "60", "00", "18", "00", "28", "00", "00", "00", "2a", "00", "00", "00", "00", "00"])
  }

  /// Whether the air between the adapters can be made worse.
  static let hasFaults = getenv("PICONET_FAULTS") != nil

  static let faultReason: Comment = "needs emulated adapters whose air can be made worse: PICONET_FAULTS"

  /// Asks for bad weather; see Tools/BluetoothVM/fault.
  static func fault(_ words: String...) throws { try runProgram(["fault"] + words) }

  /// Silences the air between the first two adapters.
  static func mute() throws { try fault("mute", number(0), number(1)) }
  static func unmute() throws { try fault("unmute", number(0), number(1)) }

  static func unplug(_ index: Int) throws { try fault("gone", number(index)) }

  /// Plugs the adapter in, and returns once it is on.
  static func plugIn(_ index: Int) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + .seconds(20)
    // Refused as long as a process still holds the adapter that it was before.
    while case let answer = output("fault back \(number(index)) 2>&1"), !answer.isEmpty {
      try #require(clock.now < deadline, "\(names[index]) is not plugged in: \(answer)\(state())")
    }
    while try AdapterTable.read().adapter(.named(names[index]))?.isUp != true {
      try #require(clock.now < deadline, "\(names[index]) is not back\n\(state())")
      await Task.yield()
    }
  }

  /// What the kernel has: adapters, links, channels, and its complaints. For finding out why a test failed.
  static func state() -> String {
    output(
      """
      exec 2>&1
      for adapter in $(hciconfig | sed -n 's/^\\(hci[0-9]*\\):.*/\\1/p'); do
        hciconfig $adapter | tr -s '\\n\\t ' ' '; echo
        hcitool -i $adapter con | tail -n +2
      done
      for list in l2cap rfcomm; do echo "$list:"; cat /sys/kernel/debug/bluetooth/$list; done
      dmesg | grep Bluetooth | tail -n 5
      """)
  }

  /// The adapter's number as the air counts: `1` for `hci1`.
  static func number(_ index: Int) -> String { names[index].filter(\.isNumber) }
}

/// Runs a program of the system, such as `hciconfig hci1 down`, and waits for its end.
func runProgram(_ words: String...) throws { try runProgram(words) }

func runProgram(_ words: [String]) throws {
  var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
  defer { for argument in arguments { free(argument) } }
  arguments.append(nil)
  var process = pid_t()
  try #require(posix_spawnp(&process, words[0], nil, nil, arguments, environ) == 0, "\(words[0])")
  var status: Int32 = 0
  while waitpid(process, &status, 0) < 0 && errno == EINTR {}
  try #require(status == 0, "\(words.joined(separator: " "))")
}

/// What a command of the shell writes.
func output(_ command: String) -> String {
  guard let stream = popen(command, "r") else { return "no shell" }
  defer { pclose(stream) }
  var bytes: [UInt8] = []
  while case let byte = fgetc(stream), byte >= 0 { bytes.append(UInt8(truncatingIfNeeded: byte)) }
  return String(decoding: bytes, as: UTF8.self)
}
