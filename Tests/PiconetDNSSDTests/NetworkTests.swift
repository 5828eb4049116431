import Testing

@testable import PiconetDNSSD

@Suite struct NetworkTests {
  @Test func aLateBrowserLearnsTheWholeServiceFromOneQueryAndOneAnswer() {
    for seed in UInt64(0)..<50 {
      var network = VirtualNetwork(seed: seed)
      let advertiser = network.add(name: "Anna", text: [Array("v=1".utf8)])
      network.run(until: .seconds(5))
      network.sent = []
      let browser = network.add(browses: true)
      network.run(until: .seconds(5) + .milliseconds(150))
      #expect(network.found(by: browser) == ["Anna (3f2a9c)"], "seed \(seed)")
      #expect(network.messages(responses: false).count == 1, "seed \(seed)")
      #expect(network.messages(from: advertiser, responses: true).count == 1, "seed \(seed)")
    }
  }

  @Test func bothStartedTogetherFindEachOtherWithinASecondAndAHalf() {
    for seed in UInt64(0)..<50 {
      var network = VirtualNetwork(seed: seed)
      let one = network.add(name: "One", id: "111111", browses: true)
      let two = network.add(name: "Two", id: "222222", browses: true)
      network.run(until: .milliseconds(1500))
      #expect(network.found(by: one).contains("Two (222222)"), "seed \(seed)")
      #expect(network.found(by: two).contains("One (111111)"), "seed \(seed)")
    }
  }

  @Test func fiveHundredSmallNetworksWithDelayAndDuplicatesAgree() {
    for seed in UInt64(0)..<500 {
      var network = VirtualNetwork(seed: seed, weather: .init(delay: 1...40, duplication: 0.2))
      let count = 2 + Int(seed % 2)
      for index in 0..<count { _ = network.add(name: "Host \(index)", id: "00000\(index)", browses: true) }
      network.run(until: .seconds(3))
      for index in 0..<count { #expect(network.found(by: index).count == count, "seed \(seed)") }
      #expect(network.sent.count <= count * 12, "seed \(seed)")
    }
  }

  @Test func sixHostsFindEachOtherInBadWeatherAndNobodyFloodsTheWire() {
    for seed in UInt64(0)..<50 {
      var network = VirtualNetwork(
        seed: seed, weather: .init(delay: 1...40, loss: Double(seed % 4) * 0.1, duplication: 0.1))
      let count = 2 + Int(seed % 5)
      for index in 0..<count { _ = network.add(name: "Host \(index)", id: "00000\(index)", browses: true) }
      // A pair that has lost everything in the first half minute meets when the first records are refreshed.
      network.run(until: .seconds(seed % 4 == 0 ? 3 : 130))
      for index in 0..<count {
        #expect(network.found(by: index).count == count, "seed \(seed): \(network.found(by: index))")
        #expect(network.hosts[index].responder?.label == Array("Host \(index) (00000\(index))".utf8), "seed \(seed)")
      }
      var perSecond: [Int64: Int] = [:]
      for item in network.sent { perSecond[item.time.components.seconds, default: 0] += 1 }
      #expect(perSecond.values.max() ?? 0 <= count * 6, "seed \(seed): \(perSecond)")
      #expect(perSecond.filter { $0.key > 20 }.values.reduce(0, +) <= count * 25, "seed \(seed): \(perSecond)")
    }
  }

  @Test func sameNameIsRenamedExactlyOnceWhoeverComesLater() {
    for seed in UInt64(0)..<50 {
      var network = VirtualNetwork(seed: seed)
      let first = network.add(name: "Anna", port: 1)
      if seed.isMultiple(of: 2) { network.run(until: .seconds(4)) }
      let second = network.add(name: "Anna", port: 2)
      let browser = network.add(browses: true)
      network.run(until: .seconds(15))
      let labels = [first, second].compactMap { network.hosts[$0].responder?.label }
        .map { String(decoding: $0, as: UTF8.self) }
      #expect(labels.sorted() == ["Anna (3f2a9c)", "Anna (3f2a9c) (2)"], "seed \(seed)")
      if seed.isMultiple(of: 2) { #expect(labels[0] == "Anna (3f2a9c)", "seed \(seed)") }
      #expect(network.found(by: browser).count == 2, "seed \(seed)")
      let ports = network.hosts[browser].browser?.instances.flatMap { $0.endpoints.map(\.port) } ?? []
      #expect(ports.sorted() == [1, 2], "seed \(seed)")
    }
  }

  @Test func sameHostNameIsRenamedToo() {
    var network = VirtualNetwork(seed: 7)
    let first = network.add(name: "One", id: "1", host: "box")
    network.run(until: .seconds(4))
    let second = network.add(name: "Two", id: "2", host: "box")
    network.run(until: .seconds(8))
    #expect(network.hosts[first].responder?.hostName.description == "box.local")
    #expect(network.hosts[second].responder?.hostName.description == "box-2.local")
  }

  @Test func goodbyeRemovesWithinASecondAndABit() {
    var network = VirtualNetwork(seed: 1)
    let advertiser = network.add(name: "Anna")
    let browser = network.add(browses: true)
    network.run(until: .seconds(5))
    #expect(network.found(by: browser).count == 1)
    network.stop(advertiser)
    network.run(until: .seconds(5) + .milliseconds(1100))
    #expect(network.found(by: browser).isEmpty)
    if case .removed(let name)? = network.hosts[browser].log.last?.report {
      #expect(name.firstLabel == Array("Anna (3f2a9c)".utf8))
    } else {
      Issue.record("no removal was reported")
    }
  }

  @Test func aCrashedAdvertiserExpiresByItsTimeToLiveAfterAFewRefreshQueries() {
    var network = VirtualNetwork(seed: 2)
    let advertiser = network.add(name: "Anna")
    let browser = network.add(browses: true)
    network.run(until: .seconds(10))
    network.crash(advertiser)
    network.sent = []
    network.run(until: .seconds(100))
    #expect(network.found(by: browser).count == 1)
    network.run(until: .seconds(131))
    #expect(network.found(by: browser).isEmpty)
    #expect((4...10).contains(network.messages(from: browser, responses: false).count))
  }

  @Test func aLivingAdvertiserIsKeptByRefreshForAnHour() {
    var network = VirtualNetwork(seed: 3, weather: .init(loss: 0.05))
    let advertiser = network.add(name: "Anna")
    let browser = network.add(browses: true)
    network.run(until: .seconds(3600))
    #expect(network.hosts[browser].log.count == 1)
    #expect(network.messages(from: browser, responses: false).count < 150)
    #expect(network.messages(from: advertiser, responses: true).count < 150)
  }

  @Test func knownAnswersKeepTheAdvertiserSilent() {
    var network = VirtualNetwork(seed: 4)
    let advertiser = network.add(name: "Anna")
    let browser = network.add(browses: true)
    network.run(until: .seconds(3))
    network.sent = []
    network.run(until: .seconds(60))
    #expect(network.messages(from: browser, responses: false).count >= 4)
    #expect(network.messages(from: advertiser, responses: true).isEmpty)
  }

  @Test func aVanishedInterfaceTakesWhatWasSeenOnItAndComesBack() {
    var network = VirtualNetwork(seed: 5)
    _ = network.add(name: "Anna")
    let browser = network.add(browses: true)
    network.run(until: .seconds(3))
    if let output = network.hosts[browser].browser?.interfaceDisappeared(VirtualNetwork.interface, at: network.now) {
      network.perform(output, browser)
    }
    #expect(network.found(by: browser).isEmpty)
    #expect(network.hosts[browser].browser?.cachedRecordCount == 0)
    network.attach(browser)
    network.run(until: .seconds(4))
    #expect(network.found(by: browser).count == 1)
  }

  @Test func changedTextIsReportedAsAnUpdate() {
    var network = VirtualNetwork(seed: 6)
    let advertiser = network.add(name: "Anna")
    let browser = network.add(browses: true)
    network.run(until: .seconds(5))
    let output = network.hosts[advertiser].responder?.update(port: 4001, text: [[0x78]], at: network.now) ?? []
    network.send(output, from: advertiser)
    network.run(until: .seconds(6))
    guard case .updated(let instance)? = network.hosts[browser].log.last?.report else {
      Issue.record("no update was reported")
      return
    }
    #expect(instance.text == [[0x78]])
    #expect(instance.endpoints.first?.port == 4001)
  }

  @Test func sameSeedGivesTheSameTranscript() {
    let run = { () -> [[UInt8]] in
      var network = VirtualNetwork(seed: 9, weather: .init(loss: 0.2, duplication: 0.2))
      for index in 0..<4 { _ = network.add(name: "Host \(index)", id: "00000\(index)", browses: true) }
      network.run(until: .seconds(200))
      return network.sent.map(\.bytes)
    }
    let first = run()
    #expect(first.count > 50)
    #expect(first == run())
  }

  @Test func aRecordIsMulticastAtMostOnceASecondWhateverIsAsked() {
    var network = VirtualNetwork(seed: 10)
    let advertiser = network.add(name: "Anna")
    let asker = network.add()
    network.run(until: .seconds(5))
    network.sent = []
    let query = DNSMessage(questions: [Question(name: ServiceType.piconet.name, type: .ptr)]).encoded() ?? []
    for step in 0..<300 {
      network.send(
        [Transmission(interface: VirtualNetwork.interface, destination: .multicast, message: query)], from: asker)
      network.run(until: .seconds(5) + .milliseconds(10 * Int64(step + 1)))
    }
    network.run(until: .seconds(12))
    let times = network.messages(from: advertiser, responses: true).map(\.time)
    #expect((2...4).contains(times.count))
    for (earlier, later) in zip(times, times.dropFirst()) { #expect(later - earlier >= .seconds(1)) }
  }
}
