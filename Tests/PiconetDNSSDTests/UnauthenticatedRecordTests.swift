import PiconetEngine
import Testing

@testable import PiconetDNSSD

/// Any device on the link can send any record for any name. What one sends takes nothing of what another has sent.
@Suite("Records that any host can send")
struct UnauthenticatedRecordTests {
  private static let other = MessageSource(address: .v4(0x0A00_0063), port: 5353)

  /// What another host sends beside a device that has announced itself at 10.0.0.2, port 1.
  enum Spoof: String, CaseIterable {
    case goodbye, repetitionAndGoodbye, repetitionWithShortTime, port, portOften, target, text, address, addresses,
      flushWithoutMore, priority
  }

  private func send(_ spoof: Spoof, to browser: inout Browser, at now: Duration) throws -> [BrowserReport] {
    let own = try BrowserTests.records("A")
    let evil = try BrowserTests.records("A", port: 9, address: .v4(0x0A00_0063))
    guard let elsewhere = DomainName("evil.local"),
      case .service(_, _, _, let host) = own.service.data
    else { return [] }
    func service(_ port: UInt16, _ target: DomainName, priority: UInt16 = 0) -> ResourceRecord {
      var record = own.service
      record.data = .service(priority: priority, weight: priority, port: port, target: target)
      return record
    }
    let all = [own.pointer, own.service, own.text, own.address]
    var messages: [[ResourceRecord]] = []
    switch spoof {
    case .goodbye: messages = [all.map { $0.with(timeToLive: 0) }]
    case .repetitionAndGoodbye: messages = [all, all.map { $0.with(timeToLive: 0) }]
    case .repetitionWithShortTime: messages = [all.map { $0.with(timeToLive: 1) }]
    case .port: messages = [[evil.service]]
    case .portOften: messages = (1_000..<1_100).map { [service($0, host)] }
    case .target:
      var address = evil.address
      address.name = elsewhere
      messages = [[service(9, elsewhere), address]]
    case .text:
      var text = own.text
      text.data = .text([[0x79]])
      messages = [[text]]
    case .address: messages = [[evil.address]]
    case .addresses:
      messages = (UInt32(0)..<100).map { number in
        var address = evil.address
        address.data = .address(.v4(0x0A00_0100 + number))
        return [address]
      }
    case .flushWithoutMore: messages = [[evil.service, evil.address]]
    case .priority: messages = [[service(9, elsewhere, priority: .max)]]
    }
    return messages.flatMap { records in
      browser.received(
        DNSMessage(flags: DNSMessage.responseFlags, answers: records), from: Self.other, on: BrowserTests.first, at: now
      ).reports
    }
  }

  @Test("none hides a device that goes on answering, nor where it is", arguments: Spoof.allCases, [true, false])
  func hidesNothing(spoof: Spoof, isRepeated: Bool) throws {
    var browser = BrowserTests.browser(BrowserTests.first)
    let own = try BrowserTests.records("A")
    _ = browser.received(
      BrowserTests.response(own.pointer, own.service, own.text, own.address), from: BrowserTests.source,
      on: BrowserTests.first, at: .zero)
    var now = Duration.seconds(2)
    for _ in 0..<(isRepeated ? 100 : 1) {
      _ = try send(spoof, to: &browser, at: now)
      _ = browser.deadlineReached(at: now)
      now += .milliseconds(100)
    }
    _ = browser.deadlineReached(at: now + .seconds(3))
    let instance = try #require(browser.instances.first { $0.label == Array("A".utf8) })
    let texts = [instance.text] + instance.otherTexts
    #expect(instance.endpoints.contains { $0.address == .v4(0x0A00_0002) && $0.port == 1 })
    #expect(texts.contains([[0x78]]) && instance.endpoints.count <= 512)
  }

  @Test("many texts of another host that is heard first push back the device's own by one place")
  func manyTexts() throws {
    var browser = BrowserTests.browser(BrowserTests.first)
    let own = try BrowserTests.records("A")
    let texts = (UInt8(0)..<12).map { number in
      var text = own.text
      text.data = .text([[0x78, 0x3D, number]])
      text.cacheFlush = false
      return text
    }
    _ = browser.received(
      DNSMessage(flags: DNSMessage.responseFlags, answers: [own.pointer] + texts), from: Self.other,
      on: BrowserTests.first, at: .zero)
    _ = browser.received(
      BrowserTests.response(own.pointer, own.service, own.text, own.address), from: BrowserTests.source,
      on: BrowserTests.first, at: .milliseconds(100))
    let instance = try #require(browser.instances.first)
    #expect(([instance.text] + instance.otherTexts).firstIndex(of: [[0x78]]) == 1)
  }

  @Test(
    "sixteen records heard before the device's own do not hide it, from whatever source",
    arguments: [RecordType.a, .srv, .txt], [true, false])
  func filledSets(type: RecordType, isOwnSource: Bool) throws {
    var browser = BrowserTests.browser(BrowserTests.first)
    let own = try BrowserTests.records("A")
    guard case .service(_, _, _, let host) = own.service.data else { return }
    for number in UInt8(0)..<16 {
      var (service, text, address) = (own.service, own.text, own.address)
      switch type {
      case .a: address.data = .address(.v4(0x0A00_0100 + UInt32(number)))
      case .srv: service.data = .service(priority: 0, weight: 0, port: 100 + UInt16(number), target: host)
      default: text.data = .text([[0x78, 0x3D, number]])
      }
      let records = [own.pointer, service, text, address].map { record in
        var shared = record
        shared.cacheFlush = false
        return shared
      }
      let source = isOwnSource ? BrowserTests.source.address : .v4(0x0A00_0200 + UInt32(number))
      _ = browser.received(
        DNSMessage(flags: DNSMessage.responseFlags, answers: records),
        from: MessageSource(address: source, port: 5353), on: BrowserTests.first, at: .zero)
    }
    let reports = browser.received(
      BrowserTests.response(own.pointer, own.service, own.text, own.address), from: BrowserTests.source,
      on: BrowserTests.first, at: .milliseconds(100)
    ).reports
    guard case .updated(let instance) = reports.last else {
      Issue.record("nothing is reported: \(reports)")
      return
    }
    let texts = [instance.text] + instance.otherTexts
    #expect(texts.count <= 16 && texts.contains([[0x78]]))
    #expect(instance.endpoints.contains { $0.address == .v4(0x0A00_0002) && $0.port == 1 })
  }

  @Test("a device's own goodbye counts, and what another has said before does not come in its way")
  func ownGoodbye() throws {
    var browser = BrowserTests.browser(BrowserTests.first)
    let own = try BrowserTests.records("A")
    let all = [own.pointer, own.service, own.text, own.address]
    func hear(_ records: [ResourceRecord], at now: Duration) {
      _ = browser.received(
        DNSMessage(flags: DNSMessage.responseFlags, answers: records), from: BrowserTests.source,
        on: BrowserTests.first,
        at: now)
    }
    hear(all, at: .zero)
    hear(all.map { $0.with(timeToLive: 0) }, at: .seconds(5))
    _ = browser.deadlineReached(at: .seconds(7))
    #expect(browser.instances.isEmpty && browser.cachedRecordCount == 0)
  }

  @Test("a new port of the device itself replaces the one of before after a second")
  func ownPort() throws {
    var browser = BrowserTests.browser(BrowserTests.first)
    for (port, time) in [(UInt16(1), Duration.zero), (2, .seconds(5))] {
      let own = try BrowserTests.records("A", port: port)
      _ = browser.received(
        BrowserTests.response(own.pointer, own.service, own.text, own.address), from: BrowserTests.source,
        on: BrowserTests.first, at: time)
    }
    #expect(browser.instances.first?.endpoints.map(\.port) == [2, 1])
    _ = browser.deadlineReached(at: .seconds(7))
    #expect(browser.instances.first?.endpoints.map(\.port) == [2])
  }

  @Test("claims on a device's names, ten a second, keep it from announcing and answering for no more than seconds")
  func conflicts() throws {
    let registration = ServiceRegistration(
      label: Array("Anna (abcdef)".utf8), host: Array("piconet-abcdef".utf8), port: 4_000, text: [[0x78]])
    var responder = try #require(Responder(registration, random: SeededRandom(seed: 1)))
    var now = Duration.zero
    _ = responder.interfaceAppeared(BrowserTests.first, BrowserTests.traits, at: now)
    var answered = 0
    for step in 0..<100 {
      now = .milliseconds(100 * step)
      // The attacker follows each of our new names.
      let name = try #require(ServiceType.piconet.name.prepending(responder.label))
      let claim = ResourceRecord(
        name: name, type: .srv, cacheFlush: true, timeToLive: 120,
        data: .service(priority: 0, weight: 0, port: 9, target: try #require(DomainName("evil.local"))))
      _ = responder.received(BrowserTests.response(claim), from: Self.other, on: BrowserTests.first, at: now)
      _ = responder.deadlineReached(at: now)
      let query = DNSMessage(questions: [Question(name: ServiceType.piconet.name, type: .ptr)])
      let sent = responder.received(query, from: Self.other, on: BrowserTests.first, at: now)
      let later = responder.deadlineReached(at: now + .milliseconds(130))
      if step >= 30, !(sent + later).isEmpty { answered += 1 }
    }
    #expect(responder.isPublished)
    // A record goes out once a second at most.
    #expect(answered >= 6, "in 7 seconds")
  }

  @Test("probes that win each tie, ten a second, keep a device from announcing itself for no more than seconds")
  func ties() throws {
    let registration = ServiceRegistration(
      label: Array("Anna (abcdef)".utf8), host: Array("piconet-abcdef".utf8), port: 4_000, text: [[0x78]])
    var responder = try #require(Responder(registration, random: SeededRandom(seed: 1)))
    _ = responder.interfaceAppeared(BrowserTests.first, BrowserTests.traits, at: .zero)
    let evil = try #require(DomainName("evil.local"))
    var published: Int?
    for step in 0..<100 where published == nil {
      let now = Duration.milliseconds(100 * step)
      let name = try #require(ServiceType.piconet.name.prepending(responder.label))
      let claim = ResourceRecord(
        name: name, type: .srv, cacheFlush: false, timeToLive: 120,
        data: .service(priority: .max, weight: .max, port: .max, target: evil))
      let probe = DNSMessage(questions: [Question(name: name, type: .any)], authorities: [claim])
      _ = responder.received(probe, from: Self.other, on: BrowserTests.first, at: now)
      _ = responder.deadlineReached(at: now)
      if responder.isPublished { published = step }
    }
    // It yields three times.
    #expect((20..<60).contains(try #require(published)))
  }
}
