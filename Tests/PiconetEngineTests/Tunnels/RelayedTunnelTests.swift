import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("A node that relays between two members")
struct RelayedTunnelTests {
  @Test("says so in its hello, and one that can be reached over others says that")
  func hello() {
    for (relays, transports) in [(true, [TransportKind.tcp]), (false, [.tcp, .relay])] {
      let engine = TunnelEngine(members: [], relays: relays) { $0.transports = transports }
      let outcome = engine.engine.played(node(1)).open()
      let hello = outcome.frames.compactMap { if case .hello(let hello) = $0 { hello } else { nil } }.first
      #expect(hello?.capabilities.contains(.relay) == relays)
      #expect(hello?.capabilities.contains(.tunnels) == !relays)
    }
  }

  @Test("says of each member that it introduces whether it passes tunnels on to it")
  func introduces() {
    for relays in [true, false] {
      let engine = TunnelEngine(members: [1], relays: relays)
      let members = [engine.members[0], engine.join(2, [.removal, .introductions])]
      let outcome = engine.side.command(.introduce(node(1), to: node(2), timeout: .seconds(10)))
      let told = members.map { member in
        member.sent(outcome).compactMap { if case .introduce(let frame) = $0 { frame.addresses } else { nil } }
      }
      #expect(told == [[[]], [relays ? [.overIntroducer] : []]], "\(told)")
    }
  }

  @Test("asks the other end, opens both halves, and passes bytes on both ways, in order and as they are")
  func passes() throws {
    let engine = TunnelEngine(members: [1, 2])
    let (one, other) = (engine.members[0], engine.members[1])
    let asked = one.receive(.openTunnel(tunnel: 4, to: other.far))
    #expect(one.sent(asked).isEmpty)
    guard case .offerTunnel(let number, let from, 1)? = other.sent(asked).first else {
      Issue.record("the other end is not asked")
      return
    }
    #expect(number & 1 == 1 && from == one.far)
    let opened = other.receive(.tunnelOpened(tunnel: number, relays: 1))
    #expect(one.sent(opened).first == .tunnelOpened(tunnel: 4, relays: 1))

    let there = one.receive(.tunnelData(tunnel: 4, [1, 2]), .tunnelData(tunnel: 4, [3]))
    #expect(other.sent(there).tunnelled == [1, 2, 3])
    let back = other.receive(.tunnelData(tunnel: number, [4, 5]))
    #expect(one.sent(back) == [.tunnelData(tunnel: 4, [4, 5])])
  }

  @Test("passes an end on behind the bytes before it, and answers it; then the number may be used again")
  func ends() throws {
    let engine = TunnelEngine(members: [1, 2])
    let (one, other) = (engine.members[0], engine.members[1])
    let number = try #require(engine.relay())
    let outcome = one.receive(.tunnelData(tunnel: 0, [7]), .closeTunnel(tunnel: 0, .left, detail: ""))
    #expect(one.sent(outcome).closes == [.left])
    #expect(other.sent(outcome) == [.tunnelData(tunnel: number, [7]), .closeTunnel(tunnel: number, .left, detail: "")])
    #expect(engine.side.engine.relayed.isEmpty)
    // What comes by a half that is closed is dropped until its end comes.
    #expect(one.sent(other.receive(.tunnelData(tunnel: number, [8]))).isEmpty)
    other.receive(.closeTunnel(tunnel: number, .left, detail: ""))
    #expect(engine.side.census.tunnels == 0)
    #expect(engine.relay() != nil)
  }

  @Test("refuses with the reason: not configured, no such member, no tunnels there, too many relays or tunnels")
  func refuses() {
    let without = TunnelEngine(members: [1, 2], relays: false)
    let open = Frame.openTunnel(tunnel: 0, to: node(2))
    #expect(without.members[0].sent(without.members[0].receive(open)).closes == [.notAvailable])

    let nobody = TunnelEngine(members: [1])
    #expect(nobody.members[0].sent(nobody.members[0].receive(open)).closes == [.noSuchAssociation])
    let toUs = Frame.openTunnel(tunnel: 4, to: nobody.side.node)
    #expect(nobody.members[0].sent(nobody.members[0].receive(toUs)).closes == [.noSuchAssociation])
    nobody.join(2, [.removal, .introductions])
    let again = Frame.openTunnel(tunnel: 2, to: node(2))
    #expect(nobody.members[0].sent(nobody.members[0].receive(again)).closes == [.noSuchAssociation])

    let engine = TunnelEngine(members: [1, 2, 3]) {
      $0.relaying?.tunnelsPerMember = 2
      $0.relaying?.tunnels = 3
    }
    let one = engine.members[0]
    for number in [0, 2] as [UInt64] { #expect(engine.relay(number) != nil) }
    #expect(one.sent(one.receive(.openTunnel(tunnel: 4, to: node(2)))).closes == [.limitExceeded])
    #expect(engine.relay(0, from: 1, to: 2) != nil)
    let last = engine.members[2]
    #expect(last.sent(last.receive(.openTunnel(tunnel: 0, to: node(2)))).closes == [.limitExceeded])
  }

  @Test("never dials for a tunnel, and has none for a node that is a member no more")
  func neverDials() throws {
    let engine = TunnelEngine(members: [1, 2])
    let number = try #require(engine.relay())
    let outcome = engine.members[1].receive(.leave(.left, detail: ""))
    #expect(outcome.dials.isEmpty)
    #expect(engine.members[0].sent(outcome).closes == [.left] && number > 0)
    let again = engine.members[0].receive(
      .closeTunnel(tunnel: 0, .left, detail: ""), .openTunnel(tunnel: 0, to: node(2)))
    #expect(again.dials.isEmpty && engine.members[0].sent(again).closes == [.noSuchAssociation])
    #expect(engine.side.engine.relayed.isEmpty)
  }

  @Test("gives one end credit only for what has gone on, and holds no more than the window")
  func backPressure() throws {
    let engine = TunnelEngine(members: [1, 2])
    let (one, other) = (engine.members[0], engine.members[1])
    try #require(engine.relay() != nil)
    engine.side.takesAll = false
    var passed = 0
    var credits: [UInt64] = []
    for _ in 0..<8 {
      let outcome = one.receive(.tunnelData(tunnel: 0, bytes(8_192)))
      passed += other.sent(outcome).tunnelled.count
      credits += one.sent(outcome).credits.map(\.consumed)
    }
    // The link takes a part ahead of the kernel; what is told has left the relay's own queue.
    #expect(passed <= 65_536 && credits.allSatisfy { $0 <= UInt64(passed) })
    #expect(engine.side.census.queuedBytes == 65_536 - passed)
    let window = Int(Tunnel.largestWindow)
    let whole = (0..<(window - 65_536) / 16_000).map { _ in one.receive(.tunnelData(tunnel: 0, bytes(16_000))) }
    #expect(whole.allSatisfy { $0.closeReason == nil })
    #expect(engine.side.census.queuedBytes <= window)
    let beyond = (0..<40).map { _ in one.receive(.tunnelData(tunnel: 0, bytes(16_000))) }
    #expect(beyond.compactMap(\.closeReason).first == .limitExceeded)
  }

  @Test("tells at once what has gone on where nothing more has come, but not for each short message")
  func acknowledges() throws {
    let engine = TunnelEngine(members: [1, 2])
    let one = engine.members[0]
    try #require(engine.relay() != nil)
    #expect(one.sent(one.receive(.tunnelData(tunnel: 0, bytes(100)))).credits.isEmpty)
    let outcome = one.receive(.tunnelData(tunnel: 0, bytes(1_000)))
    let credits = one.sent(outcome).credits
    #expect(credits.map(\.consumed) == [1_100] && credits.first?.limit ?? 0 >= 65_536)
  }

  @Test("its own bulk goes first: beside it tunnels get a quarter of what the link takes")
  func ownFirst() throws {
    let engine = TunnelEngine(members: [1, 2], TunnelEngine.capabilities.union(.streams))
    let (one, other) = (engine.members[0], engine.members[1])
    try #require(engine.relay() != nil)
    engine.side.takesAll = false
    let stream = StreamID(rawValue: 1)
    engine.side.command(.openStream(stream, to: other.far, name: ""), id: 5)
    other.receive(.streamCredit(stream: 0, limit: 4 << 20))
    engine.side.take(.streamWritten(stream, bytes(1 << 20)))
    for _ in 0..<4 { one.receive(.tunnelData(tunnel: 0, bytes(16_000))) }
    var (streamed, tunnelled) = (0, 0)
    for _ in 0..<4 {
      let sent = other.sent(engine.side.take(.transmitted(other.link, byteCount: 40_000)))
      streamed += sent.reduce(0) { if case .streamData(_, let bytes) = $1 { $0 + bytes.count } else { $0 } }
      tunnelled += sent.tunnelled.count
    }
    // Frames of streams have up to 16 KiB, and go whole.
    #expect((28_000...52_000).contains(tunnelled) && streamed > 100_000, "\(tunnelled) of a tunnel, \(streamed)")
  }

  @Test("beside a tunnel that is always full another one has as many bytes of a link that takes few at a time")
  func shares() throws {
    let engine = TunnelEngine(members: [1, 2])
    engine.engine.one.traits.transmitWindow = 2_000
    let (one, two, other) = (engine.members[0], engine.members[1], engine.join(3))
    for member in [one, two] {
      for case .offerTunnel(let number, _, let relays) in other.sent(
        member.receive(.openTunnel(tunnel: 0, to: other.far)))
      {
        other.receive(
          .tunnelOpened(tunnel: number, relays: relays),
          .tunnelCredit(tunnel: number, consumed: 0, limit: Tunnel.largestWindow))
      }
    }
    engine.side.takesAll = false
    var sent = [0, 0]
    var passed: [UInt64: Int] = [:]
    // What the kernel takes of the frames leaves room for a long and a short one in turn.
    for _ in 0..<40 {
      for (index, member) in [one, two].enumerated() where sent[index] < 60_000 {
        member.receive(.tunnelData(tunnel: 0, bytes(1_500)))
        sent[index] += 1_500
      }
      for count in [1_600, 400] {
        let outcome = engine.side.take(.transmitted(other.link, byteCount: count))
        for case .tunnelData(let number, let bytes) in other.sent(outcome) { passed[number, default: 0] += bytes.count }
      }
    }
    let shares = passed.values.sorted()
    #expect(shares.count == 2 && shares[0] > 30_000 && shares[1] - shares[0] <= 8_192, "\(shares)")
  }

  @Test("a key beyond its bytes a second waits, the others don't")
  func quotas() throws {
    let engine = TunnelEngine(members: [1, 2, 3]) { $0.relaying?.memberRate = 40_000 }
    let (one, two) = (engine.members[0], engine.members[1])
    try #require(engine.relay() != nil)
    try #require(engine.relay(0, from: 1, to: 2) != nil)
    func credits(_ member: PlayedNode, _ outcome: Outcome) -> Int { member.sent(outcome).credits.count }
    // A quarter of a second at once, and the last piece whole.
    for goesOn in [true, true, false] {
      #expect(credits(one, one.receive(.tunnelData(tunnel: 0, bytes(8_000)))) == (goesOn ? 1 : 0))
    }
    #expect(credits(two, two.receive(.tunnelData(tunnel: 0, bytes(8_000)))) == 1)
    let soon = engine.side.wait(.milliseconds(100))
    #expect(credits(one, soon) == 0)
    let later = engine.side.wait(.milliseconds(100))
    #expect(one.sent(later).credits.map(\.consumed) == [24_000])
  }

  /// Bytes that the second member gets in this time from the first one, which sends all that it may in these tunnels.
  private func passed(_ engine: TunnelEngine, _ tunnels: [UInt64], in time: Duration) -> Int {
    let (one, other) = (engine.members[0], engine.members[1])
    let window = Int(WireLimits.tunnelWindow)
    var limits: [UInt64: Int] = [:]
    var sent: [UInt64: Int] = [:]
    var taken: [UInt64: UInt64] = [:]
    var passed = 0
    func note(_ outcome: Outcome) {
      passed += other.takeTunnelled(outcome, &taken)
      for case .tunnelCredit(let tunnel, _, let limit) in one.sent(outcome) {
        limits[tunnel] = max(limits[tunnel] ?? 0, Int(limit))
      }
    }
    func acknowledge() {
      for member in [one, other] {
        note(member.receive(.acknowledge(received: engine.side.engine.associations[member.far]?.sequenced.sent ?? 0)))
      }
    }
    for _ in 0..<Int(time / .milliseconds(50)) {
      note(engine.side.wait(.milliseconds(50)))
      for tunnel in tunnels {
        while case let count = min(16_000, limits[tunnel, default: window] - sent[tunnel, default: 0]), count > 0 {
          sent[tunnel, default: 0] += count
          note(one.receive(.tunnelData(tunnel: tunnel, bytes(count))))
        }
      }
      acknowledge()
      engine.side.forgetLog()
    }
    return passed
  }

  @Test(
    "a key that sends all it may has its rate over a minute, however small, and once what its tunnels may have ahead",
    arguments: [16 << 10, 50_000, 300_000])
  func rate(_ rate: Int) throws {
    let engine = TunnelEngine(members: [1, 2]) { $0.relaying?.memberRate = rate }
    let tunnels: [UInt64] = [0, 2, 4, 6]
    for tunnel in tunnels { try #require(engine.relay(tunnel) != nil) }
    let passed = passed(engine, tunnels, in: .seconds(60))
    let ahead = tunnels.count * max(8 << 10, rate / 4)
    #expect(passed <= rate * 60 + rate / 2 + ahead, "\(passed)")
    #expect(passed >= rate * 57, "\(passed)")
  }

  @Test("tells each side when the tunnel opens how much it may have ahead, which goes by the rate")
  func windows() throws {
    for (rate, limit) in [(16 << 10, nil), (32 << 10, nil), (50_000, 12_500), (8 << 20, 524_288)] as [(Int, UInt64?)] {
      let engine = TunnelEngine(members: [1, 2]) { $0.relaying?.memberRate = rate }
      let (one, other) = (engine.members[0], engine.members[1])
      var outcome = one.receive(.openTunnel(tunnel: 0, to: other.far))
      var number: UInt64?
      for case .offerTunnel(let offered, _, let relays) in other.sent(outcome) {
        number = offered
        outcome += other.receive(.tunnelOpened(tunnel: offered, relays: relays))
      }
      func told(_ member: PlayedNode) -> [UInt64] { member.sent(outcome).credits.map(\.limit) }
      #expect(told(one) == (limit.map { [$0] } ?? []) && told(other) == told(one) && number != nil)
    }
  }

  @Test("the credit of each side is told again on the next link, also before anything has passed")
  func restated() throws {
    let engine = TunnelEngine(members: [1, 2])
    let one = engine.members[0]
    try #require(engine.relay() != nil)
    engine.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
    let association = AssociationID(high: 5, low: one.link.rawValue)
    one.open(nil, TunnelEngine.capabilities)
    let resumed = one.receive(.associate(association, received: 2))
    #expect(one.sent(resumed).credits.map(\.limit) == [524_288])
  }

  @Test("if both ends send all they may, neither is silent for long over a slow relay, from the beginning")
  func seldomSilent() throws {
    let engine = TunnelEngine(members: [1, 2]) { $0.relaying?.memberRate = 50_000 }
    let ends = engine.members
    let numbers: [UInt64] = [0, try #require(engine.relay())]
    var limits = [Int(WireLimits.tunnelWindow), Int(WireLimits.tunnelWindow)]
    var sent = [0, 0]
    var taken: [[UInt64: UInt64]] = [[:], [:]]
    var (silent, longest) = ([0, 0], [0, 0])
    for _ in 0..<600 {
      var outcome = engine.side.wait(.milliseconds(50))
      for (index, end) in ends.enumerated() {
        while case let count = min(8_000, limits[index] - sent[index]), count > 0 {
          sent[index] += count
          outcome += end.receive(.tunnelData(tunnel: numbers[index], bytes(count)))
        }
        outcome += end.receive(.acknowledge(received: engine.side.engine.associations[end.far]?.sequenced.sent ?? 0))
      }
      for (index, end) in ends.enumerated() {
        for case .tunnelCredit(_, _, let limit) in end.sent(outcome) { limits[index] = max(limits[index], Int(limit)) }
        silent[index] = end.takeTunnelled(outcome, &taken[index]) > 0 ? 0 : silent[index] + 50
        longest[index] = max(longest[index], silent[index])
      }
      engine.side.forgetLog()
    }
    #expect(longest.allSatisfy { $0 <= 600 }, "\(longest) ms")
    #expect(sent.reduce(0, +) >= 50_000 * 28, "\(sent)")
  }

  @Test("all keys together have the rate of the relay, and each tunnel its turn")
  func turns() throws {
    let rate = 100_000
    let engine = TunnelEngine(members: [1, 2, 3]) { $0.relaying?.rate = rate }
    let (one, two, other) = (engine.members[0], engine.members[1], engine.members[2])
    for number in [0, 2, 4] as [UInt64] { try #require(engine.relay(number, from: 0, to: 2) != nil) }
    try #require(engine.relay(0, from: 1, to: 2) != nil)
    let first = Int(WireLimits.tunnelWindow)
    var limits: [[UInt64: Int]] = [[0: first, 2: first, 4: first], [0: first]]
    var sent: [[UInt64: Int]] = [[:], [:]]
    var taken: [UInt64: UInt64] = [:]
    for _ in 0..<1_200 {
      var outcome = engine.side.wait(.milliseconds(50))
      for (index, member) in [one, two].enumerated() {
        for (tunnel, limit) in limits[index].sorted(by: { $0.key < $1.key }) {
          let count = min(8_000, limit - sent[index][tunnel, default: 0])
          guard count > 0 else { continue }
          sent[index][tunnel, default: 0] += count
          outcome += member.receive(.tunnelData(tunnel: tunnel, bytes(count)))
        }
      }
      for member in [one, two, other] {
        outcome += member.receive(
          .acknowledge(received: engine.side.engine.associations[member.far]?.sequenced.sent ?? 0))
      }
      _ = other.takeTunnelled(outcome, &taken)
      for (index, member) in [one, two].enumerated() {
        for case .tunnelCredit(let tunnel, _, let limit) in member.sent(outcome) { limits[index][tunnel] = Int(limit) }
      }
      engine.side.forgetLog()
    }
    let shares = sent.flatMap { $0.sorted { $0.key < $1.key }.map(\.value) }
    let ahead = rate
    #expect(shares.reduce(0, +) <= rate * 60 + rate / 2 + ahead && shares.reduce(0, +) >= rate * 57, "\(shares)")
    let mean = rate * 60 / 4
    #expect(shares.allSatisfy { $0 >= mean * 8 / 10 && $0 <= mean * 13 / 10 }, "\(shares)")
  }

  @Test("a key that closes its tunnels and opens new ones has no new budget")
  func reopened() throws {
    let engine = TunnelEngine(members: [1, 2]) { $0.relaying?.memberRate = 40_000 }
    let (one, other) = (engine.members[0], engine.members[1])
    let number = try #require(engine.relay())
    for _ in 0..<3 { one.receive(.tunnelData(tunnel: 0, bytes(8_000))) }
    one.receive(.closeTunnel(tunnel: 0, .left, detail: ""))
    other.receive(.closeTunnel(tunnel: number, .left, detail: ""))
    let open = Frame.openTunnel(tunnel: 2, to: other.far)
    #expect(one.sent(one.receive(open)).closes == [.limitExceeded])
    engine.side.wait(.seconds(1))
    #expect(engine.relay(4) != nil)
  }

  @Test("bytes that come with the end of their tunnel count as well, and all of them are made up for")
  func charged() throws {
    let engine = TunnelEngine(members: [1, 2]) { $0.relaying?.memberRate = 20_000 }
    let (one, other) = (engine.members[0], engine.members[1])
    try #require(engine.relay() != nil)
    // All at once in four tunnels, each of which takes 8 KiB ahead.
    let numbers: [UInt64] = [0, 6, 8, 10]
    for number in numbers.dropFirst() { try #require(engine.relay(number) != nil) }
    let frames = numbers.flatMap { number in
      [Frame.tunnelData(tunnel: number, bytes(8_000)), .closeTunnel(tunnel: number, .left, detail: "")]
    }
    engine.side.take(.received(one.link, frames.flatMap { FrameEncoder.encode($0) }[...]))
    let open = Frame.openTunnel(tunnel: 2, to: other.far)
    #expect(one.sent(one.receive(open)).closes == [.limitExceeded])
    // 32,000 bytes less the quarter of a second's that it had, and the one that it may owe.
    engine.side.wait(.milliseconds(1_050))
    #expect(one.sent(one.receive(.closeTunnel(tunnel: 2, .left, detail: ""), open)).closes == [.limitExceeded])
    engine.side.wait(.milliseconds(100))
    #expect(engine.relay(4) != nil)
  }

  @Test("a key that opens tunnels, fills them and closes them has its rate over a minute, and no more")
  func churned() throws {
    let rate = 50_000
    let engine = TunnelEngine(members: [1, 2]) { $0.relaying?.memberRate = rate }
    let (one, other) = (engine.members[0], engine.members[1])
    var (passed, opened) = (0, 0)
    for _ in 0..<600 {
      engine.side.wait(.milliseconds(100))
      if let number = engine.relay(0) {
        opened += 1
        passed += other.sent(one.receive(.tunnelData(tunnel: 0, bytes(12_500)))).tunnelled.count
        one.receive(.closeTunnel(tunnel: 0, .left, detail: ""))
        other.receive(.closeTunnel(tunnel: number, .left, detail: ""))
      } else {
        one.receive(.closeTunnel(tunnel: 0, .left, detail: ""))
      }
      for member in [one, other] {
        member.receive(.acknowledge(received: engine.side.engine.associations[member.far]?.sequenced.sent ?? 0))
      }
      engine.side.forgetLog()
    }
    #expect(passed <= rate * 60 + rate / 2 + 12_500 && passed >= rate * 50, "\(passed) in \(opened) tunnels")
  }

  @Test("a rate at which no link lives is refused with the limits")
  func leastRate() {
    for rate in [0, 1_024, (16 << 10) - 1, (1 << 30) + 1] {
      #expect(throws: InvalidConfiguration(rule: "a relay passes on 16 KiB to 1 GiB a second")) {
        var quotas = RelayQuotas()
        quotas.memberRate = rate
        try quotas.validate()
      }
    }
  }

  @Test("tunnels that are closed count against the key until the other end has answered")
  func unanswered() throws {
    let engine = TunnelEngine(members: [1, 2]) { $0.relaying?.tunnelsPerMember = 2 }
    let one = engine.members[0]
    for number in [0, 2] as [UInt64] {
      try #require(engine.relay(number) != nil)
      one.receive(.closeTunnel(tunnel: number, .left, detail: ""))
    }
    let open = Frame.openTunnel(tunnel: 4, to: engine.members[1].far)
    #expect(one.sent(one.receive(open)).closes == [.limitExceeded])
  }

  @Test("a number that is used again in the read of its end names the new tunnel")
  func reusedAtOnce() throws {
    let engine = TunnelEngine(members: [1, 2])
    let (one, other) = (engine.members[0], engine.members[1])
    try #require(engine.relay() != nil)
    let outcome = one.receive(
      .closeTunnel(tunnel: 0, .left, detail: ""), .openTunnel(tunnel: 0, to: other.far))
    let offers = other.sent(outcome).compactMap { if case .offerTunnel(let number, _, _) = $0 { number } else { nil } }
    let number = try #require(offers.first)
    let opened = other.receive(.tunnelOpened(tunnel: number, relays: 1))
    #expect(one.sent(opened).first == .tunnelOpened(tunnel: 0, relays: 1))
    #expect(other.sent(one.receive(.tunnelData(tunnel: 0, [7]))).tunnelled == [7])
  }

  enum Offence: String, CaseIterable {
    case otherSidesNumber, openAlready, toItself, dataBeforeOpened, openedOfNobody, openedTwice, unknownData
    case unknownClose, beyondCredit, moreConsumed, seventeenth, offerFromUs, offerFromItself
  }

  @Test("ends the association of a member that breaks the rules of tunnels, and no other", arguments: Offence.allCases)
  func breaches(_ offence: Offence) throws {
    let engine = TunnelEngine(members: [1, 2, 3]) { $0.relaying?.tunnelsPerMember = 64 }
    let (one, other) = (engine.members[0], engine.members[1])
    let own = engine.side.node
    let number = try #require(engine.relay())
    let outcome: Outcome
    var reason = Reason.protocolBroken
    switch offence {
    case .otherSidesNumber: outcome = one.receive(.openTunnel(tunnel: 1, to: other.far))
    case .openAlready: outcome = one.receive(.openTunnel(tunnel: 0, to: other.far))
    case .toItself: outcome = one.receive(.openTunnel(tunnel: 2, to: one.far))
    case .dataBeforeOpened:
      one.receive(.openTunnel(tunnel: 2, to: other.far))
      outcome = one.receive(.tunnelData(tunnel: 2, [1]))
    case .openedOfNobody: outcome = one.receive(.tunnelOpened(tunnel: 0, relays: 1))
    case .openedTwice: outcome = other.receive(.tunnelOpened(tunnel: number, relays: 1))
    case .unknownData: outcome = one.receive(.tunnelData(tunnel: 8, [1]))
    case .unknownClose: outcome = one.receive(.closeTunnel(tunnel: 8, .left, detail: ""))
    case .beyondCredit:
      engine.side.takesAll = false
      let pieces = (0..<80).map { _ in one.receive(.tunnelData(tunnel: 0, bytes(16_000))) }
      outcome = pieces.first { $0.closeReason != nil } ?? Outcome()
      reason = .limitExceeded
    case .moreConsumed: outcome = one.receive(.tunnelCredit(tunnel: 0, consumed: 1, limit: 65_536))
    case .seventeenth:
      for index in 1..<16 { one.receive(.openTunnel(tunnel: UInt64(index) * 2, to: other.far)) }
      outcome = one.receive(.openTunnel(tunnel: 32, to: other.far))
      reason = .limitExceeded
    case .offerFromUs: outcome = one.receive(.offerTunnel(tunnel: 2, from: own, relays: 1))
    case .offerFromItself: outcome = one.receive(.offerTunnel(tunnel: 2, from: one.far, relays: 1))
    }
    #expect(outcome.closeReason == reason)
    let offender = offence == .openedTwice ? other.far : one.far
    #expect(!engine.side.members.contains(offender) && engine.side.members.count == 2)
  }

  @Test("a stranger has no tunnels")
  func strangers() {
    let engine = TunnelEngine(members: [2])
    let stranger = engine.engine.played(node(1))
    stranger.associate(nil, TunnelEngine.capabilities)
    #expect(stranger.receive(.openTunnel(tunnel: 0, to: node(2))).closeReason == .protocolBroken)
  }
}
