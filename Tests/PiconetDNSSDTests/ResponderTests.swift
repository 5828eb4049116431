import PiconetEngine
import Testing

@testable import PiconetDNSSD

@Suite struct ResponderTests {
  static let id = InterfaceID(index: 2, isIPv6: false)
  static let asker = MessageSource(address: .v4(0x0A00_0009), port: 5353)

  /// A responder that announced itself ten seconds ago.
  static func established(loopback: Bool = false) throws -> (Responder, Duration) {
    var responder = try #require(
      Responder(
        ServiceRegistration(label: [0x41], host: [0x68], port: 4000, text: [[0x78]]), random: SeededRandom(seed: 1)))
    let traits = InterfaceTraits(isLoopback: loopback, receivesUnicast: true, addresses: [.v4(0x0A00_0001)])
    _ = responder.interfaceAppeared(id, traits, at: .zero)
    var now = Duration.zero
    while let next = responder.nextDeadline {
      now = next
      _ = responder.deadlineReached(at: now)
    }
    #expect(responder.isPublished)
    return (responder, now + .seconds(10))
  }

  static func ask(_ type: RecordType, _ name: DomainName, unicast: Bool = false) -> DNSMessage {
    DNSMessage(questions: [Question(name: name, type: type, wantsUnicast: unicast)])
  }

  @Test func uniqueRecordsAreAnsweredAtOnceSharedOnesAfterADelay() throws {
    var (responder, now) = try Self.established()
    let unique = Self.ask(.srv, responder.instanceName)
    #expect(responder.received(unique, from: Self.asker, on: Self.id, at: now).count == 1)
    now += .seconds(5)
    let shared = Self.ask(.ptr, ServiceType.piconet.name)
    #expect(responder.received(shared, from: Self.asker, on: Self.id, at: now).isEmpty)
    let due = try #require(responder.nextDeadline)
    #expect((Duration.milliseconds(20)...Duration.milliseconds(120)).contains(due - now))
    let answer = try DNSMessage(decoding: try #require(responder.deadlineReached(at: due).first).message)
    #expect(answer.answers.map(\.type) == [.ptr])
    #expect(answer.additionals.map(\.type) == [.srv, .txt, .a, .nsec, .nsec])
  }

  @Test func loopbackIsAnsweredWithoutDelay() throws {
    var (responder, now) = try Self.established(loopback: true)
    let shared = Self.ask(.ptr, ServiceType.piconet.name)
    #expect(responder.received(shared, from: Self.asker, on: Self.id, at: now).count == 1)
    now += .milliseconds(25)
    #expect(responder.received(shared, from: Self.asker, on: Self.id, at: now).count == 1)
  }

  @Test func aUnicastQuestionGetsAUnicastAnswerUnlessTheAskerIsOnThisHost() throws {
    var (responder, now) = try Self.established()
    let question = Self.ask(.srv, responder.instanceName, unicast: true)
    #expect(
      responder.received(question, from: Self.asker, on: Self.id, at: now).map(\.destination) == [.unicast(Self.asker)])
    let local = MessageSource(address: .v4(0x0A00_0001), port: 5353)
    #expect(responder.received(question, from: local, on: Self.id, at: now).map(\.destination) == [.multicast])
    // Once a quarter of the time to live has passed since the last multicast, everyone hears it again.
    now += .seconds(31)
    #expect(responder.received(question, from: Self.asker, on: Self.id, at: now).map(\.destination) == [.multicast])
  }

  @Test func aLegacyResolverGetsAPlainAnswer() throws {
    var (responder, now) = try Self.established()
    now += .seconds(1)
    var query = Self.ask(.ptr, ServiceType.piconet.name)
    query.identifier = 0x1234
    let source = MessageSource(address: Self.asker.address, port: 40000)
    let output = responder.received(query, from: source, on: Self.id, at: now)
    #expect(output.map(\.destination) == [.unicast(source)])
    let answer = try DNSMessage(decoding: try #require(output.first).message)
    #expect(answer.identifier == 0x1234)
    #expect(answer.questions == query.questions)
    #expect((answer.answers + answer.additionals).allSatisfy { $0.timeToLive <= 10 && !$0.cacheFlush })
  }

  @Test func knownAnswersOfATruncatedQueryAreAwaited() throws {
    var (responder, now) = try Self.established()
    var query = Self.ask(.ptr, ServiceType.piconet.name)
    query.flags = DNSMessage.truncatedFlag
    #expect(responder.received(query, from: Self.asker, on: Self.id, at: now).isEmpty)
    let due = try #require(responder.nextDeadline)
    #expect((Duration.milliseconds(400)...Duration.milliseconds(500)).contains(due - now))
    now += .milliseconds(100)
    let rest = DNSMessage(answers: [
      ResourceRecord(
        name: ServiceType.piconet.name, type: .ptr, cacheFlush: false, timeToLive: 100,
        data: .pointer(responder.instanceName))
    ])
    #expect(responder.received(rest, from: Self.asker, on: Self.id, at: now).isEmpty)
    #expect(responder.nextDeadline == nil)
  }

  @Test func aKnownAnswerNearItsEndIsGivenAgain() throws {
    var (responder, now) = try Self.established()
    for (timeToLive, isSilent) in [(UInt32(60), true), (59, false)] {
      var query = Self.ask(.ptr, ServiceType.piconet.name)
      query.answers = [
        ResourceRecord(
          name: ServiceType.piconet.name, type: .ptr, cacheFlush: false, timeToLive: timeToLive,
          data: .pointer(responder.instanceName))
      ]
      _ = responder.received(query, from: Self.asker, on: Self.id, at: now)
      #expect((responder.nextDeadline == nil) == isSilent)
      now += .seconds(2)
    }
  }

  @Test func someoneElsesSameAnswerSuppressesOurs() throws {
    var (responder, now) = try Self.established()
    _ = responder.received(Self.ask(.ptr, ServiceType.enumeration), from: Self.asker, on: Self.id, at: now)
    #expect(responder.nextDeadline != nil)
    now += .milliseconds(1)
    let other = DNSMessage(
      flags: DNSMessage.responseFlags,
      answers: [
        ResourceRecord(
          name: ServiceType.enumeration, type: .ptr, cacheFlush: false, timeToLive: 4500,
          data: .pointer(ServiceType.piconet.name))
      ])
    _ = responder.received(other, from: Self.asker, on: Self.id, at: now)
    #expect(responder.nextDeadline == nil)
  }

  @Test func anAbsentTypeIsDenied() throws {
    var (responder, now) = try Self.established()
    now += .seconds(1)
    let output = responder.received(Self.ask(.aaaa, responder.hostName), from: Self.asker, on: Self.id, at: now)
    let answer = try DNSMessage(decoding: try #require(output.first).message)
    #expect(answer.answers.map(\.data) == [.nextSecure(responder.hostName, types: [.a])])
  }

  @Test func ourOwnPacketsOfAnotherInterfaceAreNoConflict() throws {
    var responder = try #require(
      Responder(
        ServiceRegistration(label: [0x41], host: [0x68], port: 4000, text: [[0x78]]), random: SeededRandom(seed: 1)))
    let other = InterfaceID(index: 3, isIPv6: false)
    let traits = { InterfaceTraits(isLoopback: false, receivesUnicast: true, addresses: [.v4($0)]) }
    var output = responder.interfaceAppeared(Self.id, traits(0x0A00_0001), at: .zero)
    output += responder.interfaceAppeared(other, traits(0x0A00_0002), at: .zero)
    var now = Duration.zero
    while now < .seconds(5) {
      now += .milliseconds(10)
      output += responder.deadlineReached(at: now)
      let batch = output
      output = []
      // Both interfaces are on one wire.
      for transmission in batch {
        let message = try DNSMessage(decoding: transmission.message)
        for id in [Self.id, other] {
          let source = MessageSource(
            address: .v4(transmission.interface == other ? 0x0A00_0002 : 0x0A00_0001), port: 5353)
          output += responder.received(message, from: source, on: id, at: now)
        }
      }
    }
    #expect(responder.isPublished)
    #expect(responder.label == [0x41])
    #expect(responder.hostName.firstLabel == [0x68])
  }

  @Test func aLostAddressIsTakenBackAndTheRestAnnounced() throws {
    var (responder, now) = try Self.established()
    let traits = InterfaceTraits(isLoopback: false, receivesUnicast: true, addresses: [.v4(0x0A00_0007)])
    let output = responder.interfaceAppeared(Self.id, traits, at: now)
    let messages = try output.map { try DNSMessage(decoding: $0.message) }
    #expect(messages.first?.answers.map(\.timeToLive) == [0])
    #expect(messages.last?.answers.contains { $0.data == .address(.v4(0x0A00_0007)) } == true)
    now += .seconds(1)
    #expect(responder.deadlineReached(at: now).count == 1)
  }
}
