import PiconetEngine
import Testing

@testable import PiconetDNSSD

@Suite struct BrowserTests {
  static let first = InterfaceID(index: 2, isIPv6: false)
  static let second = InterfaceID(index: 3, isIPv6: true)
  static let source = MessageSource(address: .v4(0x0A00_0002), port: 5353)
  static let type = ServiceType.piconet.name
  static let traits = InterfaceTraits(isLoopback: false, receivesUnicast: false, addresses: [.v4(0x0A00_0001)])

  static func records(
    _ label: String, port: UInt16 = 1, address: IPAddress = .v4(0x0A00_0002), timeToLive: UInt32 = 120
  ) throws -> (pointer: ResourceRecord, service: ResourceRecord, text: ResourceRecord, address: ResourceRecord) {
    let instance = try #require(type.prepending(Array(label.utf8)))
    let host = try #require(DomainName(labels: [Array("h-\(label)".utf8), Array("local".utf8)]))
    let record = { (name: DomainName, kind: RecordType, data: RecordData) in
      ResourceRecord(name: name, type: kind, cacheFlush: kind != .ptr, timeToLive: timeToLive, data: data)
    }
    return (
      record(type, .ptr, .pointer(instance)),
      record(instance, .srv, .service(priority: 0, weight: 0, port: port, target: host)),
      record(instance, .txt, .text([[0x78]])), record(host, address.isIPv6 ? .aaaa : .a, .address(address))
    )
  }

  static func response(_ records: ResourceRecord...) -> DNSMessage {
    DNSMessage(flags: DNSMessage.responseFlags, answers: records)
  }

  static func browser(_ interfaces: InterfaceID...) -> Browser {
    var browser = Browser(random: SeededRandom(seed: 1))
    for id in interfaces { _ = browser.interfaceAppeared(id, traits, at: .zero) }
    return browser
  }

  static func questions(_ output: BrowserOutput) throws -> [Question] {
    try output.transmissions.flatMap { try DNSMessage(decoding: $0.message).questions }
  }

  @Test func theFirstQuestionGoesOutAtOnceAndThePausesDouble() throws {
    var browser = Browser(random: SeededRandom(seed: 1))
    var traits = Self.traits
    traits.receivesUnicast = true
    let output = browser.interfaceAppeared(Self.first, traits, at: .seconds(5))
    #expect(try Self.questions(output) == [Question(name: Self.type, type: .ptr, wantsUnicast: true)])
    var times: [Duration] = []
    while times.count < 16, let next = browser.nextDeadline {
      times.append(next - .seconds(5))
      let questions = try Self.questions(browser.deadlineReached(at: next))
      #expect(questions == [Question(name: Self.type, type: .ptr)])
    }
    #expect(times.prefix(5) == [.seconds(1), .seconds(3), .seconds(7), .seconds(15), .seconds(31)])
    #expect(times[15] - times[14] == .seconds(3600))
  }

  @Test func whatTheAnswerLacksIsAskedForStepByStep() throws {
    var browser = Self.browser(Self.first)
    let records = try Self.records("A")
    let now = Duration.milliseconds(10)
    var output = browser.received(Self.response(records.pointer), from: Self.source, on: Self.first, at: now)
    #expect(try Self.questions(output).map(\.type) == [.srv, .txt])
    output = browser.received(Self.response(records.service), from: Self.source, on: Self.first, at: now)
    #expect(output.reports.isEmpty)
    output = browser.deadlineReached(at: .milliseconds(1010))
    #expect(Set(try Self.questions(output).map(\.type)) == [.a, .aaaa, .txt, .ptr])
    output = browser.received(
      Self.response(records.text, records.address), from: Self.source, on: Self.first, at: .milliseconds(1020))
    guard case .resolved(let instance)? = output.reports.first else {
      Issue.record("not resolved: \(output)")
      return
    }
    let address = Self.source.address
    #expect(instance.endpoints == [.init(interface: Self.first, address: address, port: 1, origin: address)])
  }

  @Test func oneInstanceOnTwoInterfacesIsOneWithTheAddressesOfBoth() throws {
    var browser = Self.browser(Self.first, Self.second)
    let records = try Self.records("A")
    let all = Self.response(records.pointer, records.service, records.text, records.address)
    #expect(browser.received(all, from: Self.source, on: Self.first, at: .milliseconds(1)).reports.count == 1)
    let output = browser.received(all, from: Self.source, on: Self.second, at: .milliseconds(2))
    guard case .updated(let both)? = output.reports.first else {
      Issue.record("no update: \(output)")
      return
    }
    #expect(both.endpoints.map(\.interface) == [Self.first, Self.second])
    // Hearing the same again is no news.
    #expect(browser.received(all, from: Self.source, on: Self.second, at: .milliseconds(3)).reports.isEmpty)
    let one = browser.interfaceDisappeared(Self.first, at: .milliseconds(4)).reports
    guard case .updated(let rest)? = one.first else {
      Issue.record("no update: \(one)")
      return
    }
    #expect(rest.endpoints.map(\.interface) == [Self.second])
    let none = browser.interfaceDisappeared(Self.second, at: .milliseconds(5)).reports
    #expect(none == [.removed(rest.name)])
  }

  @Test func aFlushingRecordReplacesOlderOnesAfterASecondAndKeepsItsCompanions() throws {
    var browser = Self.browser(Self.first)
    let records = try Self.records("A")
    let all = Self.response(records.pointer, records.service, records.text, records.address)
    _ = browser.received(all, from: Self.source, on: Self.first, at: .milliseconds(1))
    var two = records.address
    two.data = .address(.v4(0x0A00_0003))
    var three = records.address
    three.data = .address(.v4(0x0A00_0004))
    _ = browser.received(Self.response(two, three), from: Self.source, on: Self.first, at: .seconds(5))
    #expect(browser.instances.first?.endpoints.count == 3)
    _ = browser.deadlineReached(at: .milliseconds(6001))
    #expect(
      browser.instances.first?.endpoints.map(\.address) == [.v4(0x0A00_0003), .v4(0x0A00_0004)])
  }

  @Test func manyKnownAnswersGoIntoSeveralTruncatedMessages() throws {
    var browser = Self.browser(Self.first)
    for index in 0..<200 {
      let records = try Self.records("a rather long instance name \(index)", timeToLive: 4500)
      let all = Self.response(records.pointer, records.service, records.text, records.address)
      _ = browser.received(all, from: Self.source, on: Self.first, at: .milliseconds(1))
    }
    // One source may fill 512 records: 128 instances of four.
    let known = browser.instances.count
    #expect(known == 128)
    let output = browser.deadlineReached(at: .seconds(1))
    let messages = try output.transmissions.map { try DNSMessage(decoding: $0.message) }
    #expect(messages.count > 2)
    #expect(output.transmissions.allSatisfy { $0.message.count <= MulticastDNS.usualMessage })
    #expect(messages.first?.questions.contains { $0.type == .ptr } == true)
    #expect(messages.dropLast().allSatisfy(\.isTruncated) && messages.last?.isTruncated == false)
    #expect(messages.flatMap(\.answers).count >= known)
    #expect(messages.dropFirst().allSatisfy { $0.questions.isEmpty })
  }

  @Test func aGoodbyeForWhatWasSentAgainWithinTheSecondIsForgotten() throws {
    var browser = Self.browser(Self.first)
    let records = try Self.records("A")
    let all = Self.response(records.pointer, records.service, records.text, records.address)
    _ = browser.received(all, from: Self.source, on: Self.first, at: .milliseconds(1))
    _ = browser.received(
      Self.response(records.pointer.with(timeToLive: 0)), from: Self.source, on: Self.first, at: .seconds(5))
    _ = browser.received(all, from: Self.source, on: Self.first, at: .milliseconds(5500))
    _ = browser.deadlineReached(at: .seconds(7))
    #expect(browser.instances.count == 1)
  }

  @Test func refreshAsksOnceForTheTypeAndThenForTheRest() throws {
    var browser = Self.browser(Self.first)
    let records = try Self.records("A")
    let all = Self.response(records.pointer, records.service, records.text, records.address)
    _ = browser.received(all, from: Self.source, on: Self.first, at: .zero)
    var asked: [Duration: [RecordType]] = [:]
    while let next = browser.nextDeadline, next < .seconds(125) {
      let types = try Self.questions(browser.deadlineReached(at: next)).map(\.type)
      if next > .seconds(90), !types.isEmpty { asked[next] = types }
    }
    let times = asked.keys.sorted()
    #expect(times.count == 4)
    #expect(times.first.map { asked[$0] ?? [] } == [.ptr])
    #expect(Set(times.last.flatMap { asked[$0] } ?? []) == [.ptr, .srv, .txt, .a])
    #expect(browser.instances.isEmpty)
  }
}
