import Testing

@testable import PiconetDNSSD

/// What a sender without end can do to a browser, and what it can't.
@Suite struct FloodTests {
  static let id = BrowserTests.first

  private static func source(_ number: UInt32) -> MessageSource {
    MessageSource(address: .v4(0x0A00_0100 + number), port: MulticastDNS.port)
  }

  /// Pointers to instances of which nothing else is known, as many as go into one packet of 9,000 bytes.
  private static func pointers(_ range: Range<Int>, timeToLive: UInt32 = 4500) throws -> DNSMessage {
    DNSMessage(
      flags: DNSMessage.responseFlags,
      answers: try range.map { try BrowserTests.records(long($0), timeToLive: timeToLive).pointer })
  }

  private static func long(_ number: Int) -> String { "\(number) " + String(repeating: "x", count: 50) }

  private static func whole(_ label: String, timeToLive: UInt32 = 4500) throws -> DNSMessage {
    let records = try BrowserTests.records(label, timeToLive: timeToLive)
    return BrowserTests.response(records.pointer, records.service, records.text, records.address)
  }

  private static func finds(_ browser: Browser, _ label: String) -> Bool {
    browser.instances.contains { $0.label == Array(label.utf8) }
  }

  @Test(arguments: [UInt32(1), 2])
  func oneThatNamesInstancesWithoutEndLeavesRoomForOthers(honest: UInt32) throws {
    var browser = BrowserTests.browser(Self.id)
    // The honest one is heard from 1, or from the same address as the flood: as another process of the host, or from
    // behind a reflector.
    for packet in 0..<100 {
      let message = try Self.pointers(packet * 88..<packet * 88 + 88)
      _ = browser.received(message, from: Self.source(2), on: Self.id, at: .milliseconds(packet * 10))
    }
    #expect(browser.cachedRecordCount == MulticastDNS.instancesPerInterface)
    let output = try browser.received(
      Self.whole("honest"), from: Self.source(honest), on: Self.id, at: .milliseconds(1001))
    #expect(output.reports.count == 1 && Self.finds(browser, "honest"))
    for packet in 200..<300 {
      let message = try Self.pointers(packet * 88..<packet * 88 + 88)
      _ = browser.received(message, from: Self.source(2), on: Self.id, at: .milliseconds(packet * 10))
    }
    #expect(Self.finds(browser, "honest"))
    #expect(browser.cachedRecordCount <= MulticastDNS.cachedRecordsPerSource + 4)
  }

  @Test func whoOnlyNamesItselfKeepsItsPlaceBesideAFlood() throws {
    var browser = BrowserTests.browser(Self.id)
    let records = try BrowserTests.records("slow")
    _ = browser.received(
      BrowserTests.response(records.pointer), from: Self.source(1), on: Self.id, at: .milliseconds(1))
    for packet in 0..<400 {
      let message = try Self.pointers(packet * 88..<packet * 88 + 88)
      _ = browser.received(message, from: Self.source(2), on: Self.id, at: .milliseconds(2 + packet * 10))
    }
    let rest = BrowserTests.response(records.service, records.text, records.address)
    _ = browser.received(rest, from: Self.source(1), on: Self.id, at: .seconds(5))
    #expect(Self.finds(browser, "slow"))
  }

  @Test func whatCanBeReachedTakesThePlaceOfWhatManyAddressesOnlyName() throws {
    var browser = BrowserTests.browser(Self.id)
    for number in 0..<2640 {
      let message = try Self.pointers(number..<number + 1)
      _ = browser.received(message, from: Self.source(UInt32(10 + number)), on: Self.id, at: .milliseconds(number))
    }
    _ = try browser.received(Self.whole("honest"), from: Self.source(1), on: Self.id, at: .milliseconds(2700))
    for number in 3000..<6000 {
      let message = try Self.pointers(number..<number + 1)
      _ = browser.received(message, from: Self.source(UInt32(10 + number)), on: Self.id, at: .milliseconds(number))
    }
    #expect(Self.finds(browser, "honest"))
    #expect(browser.cachedRecordCount <= MulticastDNS.instancesPerInterface + 4)
  }

  @Test func whoIsHeardLaterTakesPlacesOfThoseThatHaveMost() throws {
    var browser = BrowserTests.browser(Self.id)
    for number in 0..<512 {
      let message = try Self.whole("loud \(number)")
      _ = browser.received(message, from: Self.source(UInt32(2 + number / 128)), on: Self.id, at: .milliseconds(number))
    }
    #expect(browser.instances.count == MulticastDNS.instancesPerInterface)
    for number in 0..<20 {
      _ = try browser.received(Self.whole("honest \(number)"), from: Self.source(1), on: Self.id, at: .seconds(1))
    }
    for number in 0..<20 { #expect(Self.finds(browser, "honest \(number)")) }
    #expect(browser.instances.count == MulticastDNS.instancesPerInterface)
  }

  @Test func whatAFloodRepeatsOfOthersDoesNotGoWithIt() throws {
    var browser = BrowserTests.browser(Self.id)
    _ = try browser.received(Self.whole("honest"), from: Self.source(1), on: Self.id, at: .milliseconds(1))
    for number in 0..<511 {
      let message = try Self.whole("loud \(number)")
      _ = browser.received(message, from: Self.source(UInt32(2 + number % 4)), on: Self.id, at: .milliseconds(2))
    }
    for loud in 2..<6 {
      let repeated = try BrowserTests.response(BrowserTests.records("honest", timeToLive: 4500).pointer)
      _ = browser.received(repeated, from: Self.source(UInt32(loud)), on: Self.id, at: .milliseconds(3))
    }
    for number in 0..<100 {
      _ = try browser.received(Self.whole("other \(number)"), from: Self.source(7), on: Self.id, at: .milliseconds(4))
    }
    #expect(Self.finds(browser, "honest"))
  }

  /// One complete instance from each of as many addresses, the first of them source 10,000.
  private static func flood(_ browser: inout Browser, _ range: Range<Int>, at now: Duration) throws {
    for number in range {
      let message = try whole("spoofed \(number)")
      _ = browser.received(message, from: source(UInt32(10_000 + number)), on: id, at: now)
    }
  }

  @Test func whoComesAfterAFloodFromManyAddressesIsFoundWithinSeconds() throws {
    var network = VirtualNetwork(seed: 7)
    let searcher = network.add(browses: true)
    network.run(until: .seconds(10))
    for number in 0..<600 {
      let message = try Self.whole("spoofed \(number)")
      let from = Self.source(UInt32(10_000 + number))
      _ = network.hosts[searcher].browser?.received(message, from: from, on: VirtualNetwork.interface, at: network.now)
    }
    for number in 0..<8 {
      _ = network.add(name: "honest \(number)", id: "\(number)")
      network.run(until: network.now + .seconds(3))
      #expect(network.found(by: searcher).count { $0.hasPrefix("honest") } == number + 1)
    }
    #expect(network.found(by: searcher).count == MulticastDNS.instancesPerInterface)
  }

  /// Also where the flood has used the address of the honest one.
  @Test(arguments: [false, true])
  func theSecondAnnouncementIsTakenIfTheFirstCameTooEarly(isNamed: Bool) throws {
    var browser = BrowserTests.browser(Self.id)
    let named = try isNamed ? Self.whole("named") : DNSMessage()
    _ = browser.received(named, from: Self.source(1), on: Self.id, at: .milliseconds(1))
    try Self.flood(&browser, 0..<520, at: .milliseconds(2))
    var output = try browser.received(Self.whole("honest"), from: Self.source(1), on: Self.id, at: .milliseconds(500))
    #expect(output.reports.isEmpty)
    _ = browser.deadlineReached(at: .seconds(1))
    output = try browser.received(Self.whole("honest"), from: Self.source(1), on: Self.id, at: .milliseconds(1500))
    #expect(Self.finds(browser, "honest"))
    #expect(output.reports.count == 2 && output.transmissions.isEmpty)
    #expect(browser.instances.count == MulticastDNS.instancesPerInterface)
    #expect(browser.cachedRecordCount == 4 * MulticastDNS.instancesPerInterface)
  }

  @Test func aFloodFromEverNewAddressesDisplacesOneASecond() throws {
    var browser = BrowserTests.browser(Self.id)
    try Self.flood(&browser, 0..<512, at: .milliseconds(1))
    let known = Set(browser.instances.map(\.name))
    for second in 1...20 {
      let start = 1000 * second
      for tenth in 0..<10 {
        let first = start + tenth * 20
        try Self.flood(&browser, first..<first + 20, at: .milliseconds(start + tenth * 100))
      }
      #expect(known.subtracting(browser.instances.map(\.name)).count == second)
      #expect(browser.instances.count == MulticastDNS.instancesPerInterface)
      #expect(browser.cachedRecordCount == 4 * MulticastDNS.instancesPerInterface)
    }
    let sent = Self.messages(&browser, until: .seconds(30))
    #expect(sent.count <= 60, "\(sent.count)")
  }

  @Test func whoWasFoundBeforeAFloodThatRepeatsItselfStays() throws {
    var browser = BrowserTests.browser(Self.id)
    for number in 0..<5 {
      let message = try Self.whole("honest \(number)")
      _ = browser.received(message, from: Self.source(UInt32(number)), on: Self.id, at: .milliseconds(1))
    }
    for second in 1...20 {
      try Self.flood(&browser, 0..<600, at: .seconds(second))
      for number in 0..<5 { #expect(Self.finds(browser, "honest \(number)")) }
    }
  }

  @Test func whatWasDisplacedLeavesNothingInTheCache() throws {
    // On four interfaces that are full the cache is full too.
    let others = (10..<12).map { InterfaceID(index: $0, isIPv6: false) }
    var browser = BrowserTests.browser(Self.id, BrowserTests.second, others[0], others[1])
    for number in 0..<512 {
      let message = try Self.whole("spoofed \(number)")
      for id in [Self.id, BrowserTests.second] + others {
        _ = browser.received(message, from: Self.source(UInt32(10_000 + number)), on: id, at: .milliseconds(1))
      }
    }
    #expect(browser.cachedRecordCount == MulticastDNS.cachedRecords)
    for number in 0..<100 {
      let message = try Self.whole("honest \(number)")
      let output = browser.received(
        message, from: Self.source(UInt32(number)), on: Self.id, at: .seconds(number + 1))
      #expect(Self.finds(browser, "honest \(number)") && !output.reports.isEmpty)
    }
    #expect(browser.cachedRecordCount == MulticastDNS.cachedRecords)
  }

  /// The messages that go out until `end`, by time.
  private static func messages(_ browser: inout Browser, until end: Duration) -> [(time: Duration, bytes: [UInt8])] {
    var sent: [(Duration, [UInt8])] = []
    while let next = browser.nextDeadline, next <= end {
      sent += browser.deadlineReached(at: next).transmissions.map { (next, $0.message) }
    }
    return sent
  }

  @Test func onePacketProvokesOneQueryAtOnceAndTenASecond() throws {
    var browser = BrowserTests.browser(Self.id)
    let output = try browser.received(Self.pointers(0..<88), from: Self.source(2), on: Self.id, at: .milliseconds(10))
    #expect(output.transmissions.count == 1)
    var sent = output.transmissions.map { (time: Duration.milliseconds(10), bytes: $0.message) }
    sent += Self.messages(&browser, until: .seconds(30))
    #expect(sent.allSatisfy { $0.bytes.count <= MulticastDNS.usualMessage })
    for second in 0..<30 {
      let count = sent.count { Duration.seconds(second) <= $0.time && $0.time < .seconds(second + 1) }
      // And a query now and then for the type.
      #expect(count <= 11, "\(count) in second \(second)")
    }
    let asked = try Set(sent.flatMap { try DNSMessage(decoding: $0.bytes).questions.map(\.name) })
    #expect(asked.count == 89)
  }

  @Test func recordsThatLiveForASecondAreNotAskedForWithoutEnd() throws {
    var browser = BrowserTests.browser(Self.id)
    var sent = 0
    for tenth in 0..<100 {
      let now = Duration.milliseconds(tenth * 100)
      for number in 0..<128 {
        let message = try Self.whole(Self.long(number), timeToLive: 1)
        sent += browser.received(message, from: Self.source(2), on: Self.id, at: now).transmissions.count
      }
      sent += Self.messages(&browser, until: now + .milliseconds(99)).count
    }
    #expect(sent <= 220, "\(sent)")
  }

  @Test func whoNamesFewIsAskedBeforeWhoNamesMany() throws {
    var browser = BrowserTests.browser(Self.id)
    _ = try browser.received(Self.pointers(0..<300), from: Self.source(2), on: Self.id, at: .milliseconds(10))
    let records = try BrowserTests.records("slow")
    _ = browser.received(
      BrowserTests.response(records.pointer), from: Self.source(1), on: Self.id, at: .milliseconds(20))
    let next = try DNSMessage(decoding: #require(Self.messages(&browser, until: .milliseconds(111)).first).bytes)
    #expect(next.questions.first?.name.firstLabel == Array("slow".utf8))
  }
}
