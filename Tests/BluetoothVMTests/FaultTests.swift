import Foundation
import TestSupport
import Testing

/// What `Tools/bluetooth-vm` promises of its adapters and its bad weather, as seen with BlueZ's own tools.
@Suite(
  "The virtual machine's bad weather", .serialized,
  .machine("--adapters 3"))
struct FaultTests {
  struct Result {
    var status: Int32
    var output: String
  }

  static func run(_ command: String) throws -> Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Result(status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
  }

  /// The number of adapters that the machine was made with.
  static let adapters =
    ProcessInfo.processInfo.environment["PICONET_ADAPTERS"]?.split(separator: ",").count ?? 0

  static let second = "00:AA:01:01:00:01"

  /// Asks until the command succeeds, for at most so many seconds; false if it does not.
  static func becomes(within seconds: Double = 10, _ command: String) throws -> Bool {
    try run("timeout \(seconds) sh -c 'until { \(command); } >/dev/null 2>&1; do sleep 0.1; done'").status == 0
  }

  init() throws {
    try #require(Self.run("hciconfig hci1 piscan").status == 0)
  }

  static func ping() throws -> Result { try run("timeout 30 l2ping -i hci0 -c 1 \(second)") }

  /// Makes a link. Without traffic it would end by itself after two seconds, so a ping goes on and keeps it. The ping
  /// ends with the link.
  static func connect() throws {
    // Process waits for every program that holds its descriptors; `fault` starts programs without them.
    _ = try run("fault run timeout -s KILL 30 l2ping -i hci0 -d 1 -t 20 \(second)")
    #expect(try becomes("hcitool -i hci0 con | grep -q ACL && hcitool -i hci1 con | grep -q ACL"))
  }

  /// Cuts until this holds: the link of a page that was under way, bluetoothd's or a former test's, comes after a cut.
  static func cut(until condition: String) -> String { "fault cut 0 1; sleep 0.1; \(condition)" }

  static let disconnected = "! hcitool -i hci0 con | grep -q ACL && ! hcitool -i hci1 con | grep -q ACL"

  @Test("every named adapter is there and up")
  func adapters() throws {
    let names = ProcessInfo.processInfo.environment["PICONET_ADAPTERS"]?.split(separator: ",") ?? []
    #expect(names.count >= 2)
    for name in names { #expect(try Self.run("hciconfig \(name)").output.contains("UP RUNNING"), "\(name)") }
  }

  @Test("a muted adapter does not answer, and is heard again afterwards")
  func mute() throws {
    defer { _ = try? Self.run("fault paging 5120; fault unmute 0 1") }
    #expect(try Self.run("fault paging 300 && fault mute 0 1").status == 0)
    #expect(try Self.becomes(Self.cut(until: Self.disconnected)))
    let silent = try Self.ping()
    #expect(silent.status != 0)
    #expect(silent.output.contains("Host is down"))
    #expect(try Self.run("fault unmute 0 1").status == 0)
    #expect(try Self.ping().status == 0)
  }

  @Test("a silent link ends on both sides by its supervision timeout")
  func supervision() throws {
    defer { _ = try? Self.run("fault supervision 20000; fault unmute 0 1") }
    try Self.connect()
    #expect(try Self.run("fault supervision 500 && fault mute 0 1").status == 0)
    #expect(try Self.becomes(Self.disconnected))
  }

  @Test("a cut link ends on both sides at once, and another can be made")
  func cut() throws {
    try Self.connect()
    #expect(try Self.run("fault cut 0 1").status == 0)
    #expect(try Self.becomes(within: 3, Self.disconnected))
    #expect(try Self.ping().status == 0)
  }

  @Test("an adapter goes and comes back under its name")
  func gone() throws {
    #expect(try Self.run("fault gone 1").status == 0)
    #expect(try Self.becomes("[ ! -e /sys/class/bluetooth/hci1 ]"))
    #expect(try Self.run("fault gone 1").status == 1)
    #expect(try Self.run("fault back 1").status == 0)
    #expect(try Self.becomes("hciconfig hci1 | grep -q \"UP RUNNING\""))
    #expect(try Self.run("hciconfig hci1 piscan").status == 0)
    #expect(try Self.ping().status == 0)
  }

  @Test("an adapter whose former self a program still holds does not come back under another name")
  func held() throws {
    defer { try? ControllerTests.end() }
    try ControllerTests.end()
    try ControllerTests.advertise()
    #expect(try ControllerTests.connectLE() == "00")
    // bluetoothd has a channel of its own over the link, and closes it when it gets to that.
    let channels = "[ $(wc -l </sys/kernel/debug/bluetooth/l2cap) -ge 2 ]"
    #expect(try Self.becomes("\(ControllerTests.hasLE) && \(channels)"))
    #expect(try Self.run("kill -STOP $(pidof bluetoothd)").status == 0)
    #expect(try Self.run("fault gone 1").status == 0)
    let early = try Self.run("fault back 1")
    let names = try Self.run("ls /sys/class/bluetooth").output
    #expect(try Self.run("kill -CONT $(pidof bluetoothd)").status == 0)
    #expect(early.status == 1 && early.output.contains("holds"), "\(early.output)")
    #expect(!names.contains("hci\(Self.adapters)"), "\(names)")
    #expect(try Self.becomes("fault back 1"))
    #expect(try Self.becomes("hciconfig hci1 | grep -q \"UP RUNNING\""))
  }

  @Test("an adapter is switched off and on")
  func off() throws {
    #expect(try Self.run("fault off 1").status == 0)
    #expect(try Self.becomes("hciconfig hci1 | grep -q DOWN"))
    #expect(try Self.run("fault on 1").status == 0)
    #expect(try Self.becomes("hciconfig hci1 | grep -q \"UP RUNNING\""))
  }

  @Test("what passes between two adapters is counted")
  func count() throws {
    _ = try Self.run("fault count")
    let ping = try Self.run("timeout 30 l2ping -i hci0 -c 1 -s 40 \(Self.second)")
    #expect(ping.status == 0)
    // 40 bytes of payload, four of L2CAP's command and four of its header.
    let lines = try Self.run("fault count").output.split(separator: "\n").map { line in
      line.split(separator: " ").compactMap { Int($0) }
    }
    for pair in [[0, 1], [1, 0]] {
      #expect(lines.contains { $0.count == 4 && Array($0.prefix(2)) == pair && $0[3] >= 48 }, "\(lines)")
    }
  }

  @Test("bluetoothd is killed and started again")
  func daemon() throws {
    let before = try Self.run("pidof bluetoothd").output
    #expect(!before.isEmpty)
    #expect(try Self.run("fault daemon-kill").status == 0)
    #expect(try Self.run("pidof bluetoothd").status != 0)
    #expect(try Self.run("fault daemon-start </dev/null >/dev/null 2>&1").status == 0)
    #expect(try Self.run("pidof bluetoothd").output != before)
  }

  @Test(
    "an invalid request is refused",
    arguments: ["mute 0", "mute 0 99", "delay -1", "slots 2", "cut 1 1", "gone 99"])
  func refused(request: String) throws {
    #expect(try Self.run("fault \(request)").status == 1)
  }
}
