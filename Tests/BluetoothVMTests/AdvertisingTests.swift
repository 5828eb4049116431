import Foundation
import TestSupport
import Testing

/// What a controller hears of another one's LE advertising, and when: Core Specification 5.4, volume 6, part B, 4.4.2
/// and 4.4.3. btvirt alone reports each set once, and at the moment when a scan begins.
@Suite(
  "The virtual machine's advertising", .serialized,
  .machine("--adapters 9 --no-daemon"))
struct AdvertisingTests {
  /// Two hosts, one of which advertises while the other scans, and a third that scans as well.
  private static let numbers = (advertiser: 1, scanner: 0, witness: 2)
  /// An advertising set that bluetoothd does not use.
  private static let set: UInt8 = 7

  private enum Opcode {
    static let setParameters: UInt16 = 0x2036
    static let setData: UInt16 = 0x2037
    static let enable: UInt16 = 0x2039
    static let scanParameters: UInt16 = 0x2041
    static let scan: UInt16 = 0x2042
  }

  /// An advertisement that can be connected to and scanned, as LE has had it since its first version.
  private static let report: UInt16 = 0x0013

  /// Runs `body` with these hosts.
  private func withHosts(_ body: ((advertiser: RawHost, scanner: RawHost, witness: RawHost)) throws -> Void) throws {
    let advertiser = try RawHost(Self.numbers.advertiser)
    defer { #expect((try? advertiser.end()) == true) }
    let scanner = try RawHost(Self.numbers.scanner)
    defer { #expect((try? scanner.end()) == true) }
    let witness = try RawHost(Self.numbers.witness)
    defer { #expect((try? witness.end()) == true) }
    try body((advertiser, scanner, witness))
  }

  /// - Parameter interval: in units of 625 us.
  private func advertise(_ host: RawHost, interval: UInt16, _ data: [UInt8]) throws {
    let interval = [UInt8(interval & 0xFF), UInt8(interval >> 8), 0]
    let parameters =
      [Self.set, UInt8(Self.report), 0] + interval + interval + [7, 0, 0] + [UInt8](repeating: 0, count: 6)
      + [0, 0x7F, 1, 0, 1, Self.set, 0]
    #expect(try host.command(Opcode.setParameters, parameters) == 0)
    try tell(host, data)
    #expect(try host.command(Opcode.enable, [1, 1, Self.set, 0, 0, 0]) == 0)
  }

  private func tell(_ host: RawHost, _ data: [UInt8]) throws {
    #expect(try host.command(Opcode.setData, [Self.set, 3, 1, UInt8(data.count)] + data) == 0)
  }

  private func scan(_ host: RawHost, filtersDuplicates: Bool) throws {
    #expect(try host.command(Opcode.scanParameters, [0, 0, 1, 0, 0x12, 0, 0x12, 0]) == 0)
    #expect(try host.command(Opcode.scan, [1, filtersDuplicates ? 1 : 0, 0, 0, 0, 0]) == 0)
  }

  private func stopScanning(_ host: RawHost) throws {
    #expect(try host.command(Opcode.scan, [0, 0, 0, 0, 0, 0]) == 0)
  }

  /// What the next report of the advertiser contains.
  private func heard(_ host: RawHost, of advertiser: RawHost) throws -> [UInt8] {
    while true {
      let event = try host.event(RawHost.Event.lowEnergy)
      // "LE Extended Advertising Report" with one report: its type, the type of the address, the address.
      guard event.count >= 26, event[0] == 0x0D, Array(event[5..<11]) == advertiser.address else { continue }
      #expect(event[1] == 1 && UInt16(event[2]) | UInt16(event[3]) << 8 == Self.report, "\(event)")
      #expect(Int(event[25]) == event.count - 26)
      return Array(event[26...])
    }
  }

  @Test("a scan hears a host that advertises already at its next advertising event, and not at once")
  func next() throws {
    try withHosts { hosts in
      try advertise(hosts.advertiser, interval: 4000, [2, 1, 6])
      // The first event is over once a host has heard it.
      try scan(hosts.witness, filtersDuplicates: true)
      #expect(try heard(hosts.witness, of: hosts.advertiser) == [2, 1, 6])
      try scan(hosts.scanner, filtersDuplicates: true)
      // The answers to this and to the command to scan are there before the next report.
      #expect(try hosts.scanner.count(RawHost.Event.lowEnergy) == 0)
      #expect(try heard(hosts.scanner, of: hosts.advertiser) == [2, 1, 6])
    }
  }

  @Test("with duplicates filtered a scan hears an advertiser once, and again what is new")
  func once() throws {
    try withHosts { hosts in
      try scan(hosts.witness, filtersDuplicates: false)
      try scan(hosts.scanner, filtersDuplicates: true)
      try advertise(hosts.advertiser, interval: 160, [2, 1, 6])
      #expect(try heard(hosts.scanner, of: hosts.advertiser) == [2, 1, 6])
      for _ in 0..<4 { #expect(try heard(hosts.witness, of: hosts.advertiser) == [2, 1, 6]) }
      #expect(try hosts.scanner.count(RawHost.Event.lowEnergy) == 0)
      try tell(hosts.advertiser, [2, 1, 4])
      #expect(try heard(hosts.scanner, of: hosts.advertiser) == [2, 1, 4])
      // The next scan begins anew.
      try stopScanning(hosts.scanner)
      try scan(hosts.scanner, filtersDuplicates: true)
      #expect(try heard(hosts.scanner, of: hosts.advertiser) == [2, 1, 4])
    }
  }

  @Test("a scan does not hear a host that is out of reach, and hears it when it comes")
  func outOfReach() throws {
    defer { _ = try? FaultTests.run("fault unmute 0 1") }
    try withHosts { hosts in
      #expect(try FaultTests.run("fault mute 0 1").status == 0)
      try scan(hosts.witness, filtersDuplicates: false)
      try scan(hosts.scanner, filtersDuplicates: true)
      try advertise(hosts.advertiser, interval: 160, [2, 1, 6])
      for _ in 0..<3 { _ = try heard(hosts.witness, of: hosts.advertiser) }
      #expect(try hosts.scanner.count(RawHost.Event.lowEnergy) == 0)
      #expect(try FaultTests.run("fault unmute 0 1").status == 0)
      #expect(try heard(hosts.scanner, of: hosts.advertiser) == [2, 1, 6])
    }
  }
}
