import Foundation
import TestSupport
import Testing

/// What a controller answers by the Core Specification, and btvirt alone does not: without the answer a host waits, up
/// to 20 s, and every other command to that adapter waits with it. Seen with BlueZ's own tools, and with raw HCI
/// commands of hcitool.
@Suite(
  "The virtual machine's controllers", .serialized,
  .machine("--adapters 3"))
struct ControllerTests {
  static let first = "00:AA:01:00:00:00"
  static let second = "00:AA:01:01:00:01"
  static let third = "00:AA:01:02:00:02"

  /// An advertising set that bluetoothd does not use.
  static let set = "07"

  init() throws {
    try #require(FaultTests.run("hciconfig hci0 piscan && hciconfig hci1 piscan").status == 0)
    try Self.end()
  }

  /// Ends links between the two, and the tests' own advertising.
  static func end() throws {
    _ = try FaultTests.run(
      "hcitool -i hci0 cmd 0x08 0x000e; for i in 0 1; do hcitool -i hci$i cmd 0x08 0x003c \(set); done")
    #expect(try FaultTests.becomes(FaultTests.cut(until: "[ $(hcitool con | wc -l) = 1 ]")))
  }

  /// Gives a command by its numbers of group and command and its parameters.
  /// - Returns: the status in the event that answers it. The parameters of "Command Status" begin with it; those of
  ///   "Command Complete" have it after the number of packets and the command.
  static func command(_ adapter: Int, _ command: String) throws -> String? {
    let output = try FaultTests.run("hcitool -i hci\(adapter) cmd \(command)").output
    let lines = output.split(separator: "\n")
    guard let event = lines.firstIndex(where: { $0.hasPrefix("> HCI Event:") }), event + 1 < lines.endIndex else {
      return nil
    }
    let bytes = lines[event + 1].split(separator: " ")
    let at = lines[event].contains("0x0f") ? 0 : 3
    return at < bytes.count ? String(bytes[at]) : nil
  }

  /// hci0 asks for an LE link to hci1, with usual parameters.
  static func connectLE() throws -> String? {
    let peer = second.split(separator: ":").reversed().joined(separator: " ")
    return try command(
      0, "0x08 0x0043 00 00 00 \(peer) 01 60 00 60 00 18 00 28 00 00 00 2a 00 00 00 00 00")
  }

  /// Lets an adapter advertise, to be connected to.
  static func advertise(_ adapter: Int = 1) throws {
    #expect(
      try command(adapter, "0x08 0x0036 \(set) 13 00 00 08 00 00 08 00 07 00 00 00 00 00 00 00 00 00 7f 01 00 01 07 00")
        == "00")
    #expect(try command(adapter, "0x08 0x0039 01 01 \(set) 00 00 00") == "00")
  }

  static let hasLE = "hcitool -i hci0 con | grep -q LE && hcitool -i hci1 con | grep -q LE"

  @Test("btvirt gets one event at a time, since its loop calls what an event before has freed")
  func oneEventAtATime() throws {
    let ask = """
      import os, select
      ready = select.epoll()
      for descriptor in [os.eventfd(1) for _ in range(3)]:
          ready.register(descriptor)
      print(*(len(ready.poll(maxevents=10)) for _ in range(2)))
      """
    #expect(
      try FaultTests.run("LD_PRELOAD=/usr/local/lib/piconet-vm/air.so python3 -c '\(ask)'").output.contains("1 1\n"))
    #expect(try FaultTests.run("python3 -c '\(ask)'").output.contains("3 3\n"), "else nothing was shown")
  }

  @Test("an LE connection waits until its peer advertises; another one to it is refused")
  func waitsForAdvertising() throws {
    defer { try? Self.end() }
    #expect(try Self.connectLE() == "00")
    #expect(try Self.connectLE() == "0C", "command disallowed: one waits")
    #expect(try FaultTests.run(Self.hasLE).status != 0)
    try Self.advertise()
    #expect(try FaultTests.becomes(Self.hasLE))
    #expect(try Self.connectLE() == "0B", "connection exists")
  }

  @Test("an LE connection that waits is cancelled, once, and can be asked for again")
  func cancels() throws {
    defer { try? Self.end() }
    #expect(try Self.connectLE() == "00")
    #expect(try Self.command(0, "0x08 0x000e") == "00")
    #expect(try Self.command(0, "0x08 0x000e") == "0C", "command disallowed: none waits")
    try Self.advertise()
    #expect(try Self.connectLE() == "00")
    #expect(try FaultTests.becomes(Self.hasLE))
  }

  @Test("LE's random address is set once advertising is over")
  func randomAddress() throws {
    defer { try? Self.end() }
    try Self.advertise()
    #expect(try Self.command(1, "0x08 0x0039 00 01 \(Self.set) 00 00 00") == "00")
    #expect(try Self.command(1, "0x08 0x003c \(Self.set)") == "00")
    #expect(try Self.command(1, "0x08 0x0005 01 02 03 04 05 c6") == "00")
  }

  @Test("a BR/EDR link is authenticated while there is an LE link between the two")
  func authenticates() throws {
    defer { try? Self.end() }
    try Self.advertise()
    #expect(try Self.connectLE() == "00")
    #expect(try FaultTests.becomes(Self.hasLE))
    _ = try FaultTests.run("fault run timeout -s KILL 30 l2test -i hci1 -r -P 4129")
    // It connects as soon as the link is authenticated, and then says nothing.
    let connects = "timeout 4 l2test -i hci0 -n -A -P 4129 \(Self.second) 2>&1 | grep -q Connected"
    #expect(try FaultTests.becomes(connects))
  }

  @Test("an adapter that has asked one for authentication is authenticated when another one asks for it")
  func authenticatesInTurn() throws {
    defer {
      _ = try? FaultTests.run("fault cut 0 2; fault cut 1 2")
      try? Self.end()
    }
    #expect(try FaultTests.run("hciconfig hci2 piscan").status == 0)
    for (from, to, address, port) in [(2, 0, Self.first, 4131), (1, 2, Self.third, 4133)] {
      _ = try FaultTests.run("fault run timeout -s KILL 60 l2test -i hci\(to) -r -P \(port)")
      #expect(try FaultTests.becomes("grep -q \" \(port) \" /sys/kernel/debug/bluetooth/l2cap"))
      // Only once: the second time the hosts have a key, and neither is asked for anything.
      let sent = try FaultTests.run("timeout 30 l2test -i hci\(from) -s -N 1 -b 20 -A -P \(port) \(address)")
      #expect(sent.output.contains("Connected"), "hci\(from) to hci\(to): \(sent.output)")
    }
  }

  @Test("two that page each other at once connect as soon as the first is heard")
  func bothPage() throws {
    defer {
      _ = try? FaultTests.run("fault page 200; fault paging 5120")
      try? Self.end()
    }
    // No page ends by itself in the time that the pings have.
    #expect(try FaultTests.run("fault page 1000 && fault paging 60000").status == 0)
    let pings = try FaultTests.run(
      """
      timeout 15 l2ping -i hci0 -c 1 \(Self.second) & timeout 15 l2ping -i hci1 -c 1 \(Self.first)
      there=$?; wait $! && [ $there = 0 ]
      """)
    #expect(pings.status == 0, "\(pings.output)")
  }
}
