import PiconetEngine
import Testing

@testable import PiconetDNSSD

@Suite struct HostileTests {
  static let id = InterfaceID(index: 2, isIPv6: false)
  static let traits = InterfaceTraits(isLoopback: false, receivesUnicast: true, addresses: [.v4(0x0A00_0001)])

  static func advertisement(_ number: Int) -> DNSMessage {
    let type = ServiceType.piconet.name
    let instance = type.prepending(Array("peer \(number)".utf8)) ?? type
    let host = DomainName("host-\(number).local") ?? type
    return DNSMessage(
      flags: DNSMessage.responseFlags,
      answers: [
        ResourceRecord(name: type, type: .ptr, cacheFlush: false, timeToLive: .max, data: .pointer(instance)),
        ResourceRecord(
          name: instance, type: .srv, cacheFlush: true, timeToLive: .max,
          data: .service(priority: 0, weight: 0, port: 1, target: host)),
        ResourceRecord(name: instance, type: .txt, cacheFlush: true, timeToLive: .max, data: .text([])),
        ResourceRecord(name: host, type: .a, cacheFlush: true, timeToLive: .max, data: .address(.v4(1))),
      ])
  }

  @Test func oneLoudSourceCannotPushAnHonestPeerOutOfTheCache() {
    var browser = Browser(random: SeededRandom(seed: 1))
    _ = browser.interfaceAppeared(Self.id, Self.traits, at: .zero)
    let honest = MessageSource(address: .v4(0x0A00_0002), port: 5353)
    _ = browser.received(Self.advertisement(0), from: honest, on: Self.id, at: .zero)
    for number in 1...3000 {
      let loud = MessageSource(address: .v4(0x0A00_0003 + UInt32(number % 40)), port: 5353)
      let now = Duration.milliseconds(number)
      for transmission in browser.received(Self.advertisement(number), from: loud, on: Self.id, at: now).transmissions {
        #expect(transmission.message.count <= MulticastDNS.largestMessage)
      }
    }
    #expect(browser.cachedRecordCount <= MulticastDNS.cachedRecords)
    #expect(browser.instances.contains { $0.label == Array("peer 0".utf8) })
    #expect(browser.instances.count <= MulticastDNS.instancesPerInterface)
    // Times to live of a century are cut: after 75 minutes all is gone.
    _ = browser.deadlineReached(at: .seconds(4600))
    #expect(browser.instances.isEmpty)
  }

  @Test func whatNobodyAskedForIsNotCached() {
    var browser = Browser(random: SeededRandom(seed: 1))
    _ = browser.interfaceAppeared(Self.id, Self.traits, at: .zero)
    let source = MessageSource(address: .v4(0x0A00_0002), port: 5353)
    let other = DomainName("_ipp._tcp.local") ?? DomainName()
    var message = Self.advertisement(1)
    message.answers[0].name = other
    message.answers[0].data = .pointer(other)
    _ = browser.received(message, from: source, on: Self.id, at: .zero)
    #expect(browser.cachedRecordCount == 0)
    let wrongPort = MessageSource(address: source.address, port: 5354)
    _ = browser.received(Self.advertisement(1), from: wrongPort, on: Self.id, at: .zero)
    #expect(browser.cachedRecordCount == 0)
  }

  @Test func mutatedPacketsNeverTrapTheMachinesNorMakeThemChatter() {
    var random = SeededRandom(seed: 5)
    var browser = Browser(random: SeededRandom(seed: 2))
    guard
      var responder = Responder(
        ServiceRegistration(label: [0x41], host: [0x68], port: 4000, text: [Array("v=1".utf8)]),
        random: SeededRandom(seed: 3))
    else {
      Issue.record("no responder")
      return
    }
    var now = Duration.zero
    _ = browser.interfaceAppeared(Self.id, Self.traits, at: now)
    _ = responder.interfaceAppeared(Self.id, Self.traits, at: now)
    var sent = 0
    for round in 0..<5000 {
      now += .milliseconds(5)
      var bytes = round.isMultiple(of: 2) ? MessageTests.answer : MessageTests.query
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      let port: UInt16 = round.isMultiple(of: 50) ? 40000 : 5353
      let source = MessageSource(address: .v4(0x0A00_0000 + UInt32(round % 200)), port: port)
      if let message = try? DNSMessage(decoding: bytes) {
        sent += browser.received(message, from: source, on: Self.id, at: now).transmissions.count
        sent += responder.received(message, from: source, on: Self.id, at: now).count
      }
      sent += browser.deadlineReached(at: now).transmissions.count
      sent += responder.deadlineReached(at: now).count
      #expect(browser.nextDeadline ?? .seconds(1_000_000) > now)
      #expect(responder.nextDeadline ?? .seconds(1_000_000) > now)
    }
    // In 25 seconds, with 200 packets a second coming in.
    #expect(sent < 1500, "\(sent)")
    #expect(browser.cachedRecordCount <= MulticastDNS.cachedRecords)
  }
}
