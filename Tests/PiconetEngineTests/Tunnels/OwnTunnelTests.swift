import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("A tunnel that ends here")
struct OwnTunnelTests {
  private let id = TunnelID(rawValue: 1)

  private func tunnelEvents(_ outcome: Outcome) -> [Effect] {
    outcome.effects.filter { effect in
      switch effect {
      case .tunnelOpened, .tunnelOffered, .tunnelReceived, .tunnelTaken, .tunnelPassedOn, .tunnelEnded: true
      default: false
      }
    }
  }

  private func failure(_ outcome: Outcome) -> LinkFailure? {
    for case .tunnelEnded(_, let failure) in outcome.effects { return failure }
    return nil
  }

  @Test("is asked for over a member that relays, opened, written, read, and closed in good order")
  func whole() {
    let engine = TunnelEngine(members: [1], relays: false)
    let relay = engine.members[0]
    let wanted = engine.side.take(.tunnelWanted(id, over: relay.far, to: node(3)))
    #expect(relay.sent(wanted) == [.openTunnel(tunnel: 1, to: node(3))])
    let opened = relay.receive(.tunnelOpened(tunnel: 1, relays: 2))
    let route = TunnelRoute(remote: node(3), relays: [relay.far], relayCount: 2)
    #expect(tunnelEvents(opened) == [.tunnelOpened(id, route)])
    #expect(route.traits.relayCount == 2 && route.traits.kind == .relay)

    let written = engine.side.take(.tunnelWritten(id, bytes(3_000)))
    #expect(relay.sent(written).tunnelled.count == 3_000)
    #expect(tunnelEvents(written) == [.tunnelTaken(id, byteCount: 3_000)])
    let credited = relay.receive(.tunnelCredit(tunnel: 1, consumed: 2_000, limit: 100_000))
    #expect(tunnelEvents(credited) == [.tunnelPassedOn(id, byteCount: 2_000)])
    let received = relay.receive(.tunnelData(tunnel: 1, bytes(2_000)))
    #expect(tunnelEvents(received) == [.tunnelReceived(id, bytes(2_000))])
    let read = engine.side.take(.tunnelConsumed(id, byteCount: 2_000))
    #expect(relay.sent(read).credits.map(\.consumed) == [2_000])

    let closed = engine.side.take(.tunnelClosed(id, isAborted: false))
    #expect(relay.sent(closed).closes == [.left])
    relay.receive(.closeTunnel(tunnel: 1, .left, detail: ""))
    #expect(engine.side.census.tunnels == 0)
  }

  @Test("is what an invitation by the application comes to where a member relays and nothing else leads to the node")
  func invited() {
    let engine = TunnelEngine(members: [1, 2], relays: false)
    let outcome = engine.side.command(
      .invite(.node(node(3)), context: [], timeout: .seconds(10), code: nil), id: 40)
    let addresses = outcome.dials.first?.addresses
    #expect(addresses == [TransportAddress(to: node(3), over: node(1)).text])
    let over = engine.side.command(
      .invite(.node(node(4), over: [.tcp]), context: [], timeout: .seconds(10), code: nil), id: 41)
    #expect(over.failure(of: 41)?.reason == .unreachable, "a relay is one of the transports")
  }

  @Test("fails with what the relay says, or, without a frame, with what we know ourselves")
  func fails() {
    let engine = TunnelEngine(members: [1, 2], relays: false)
    engine.join(4, [.removal, .introductions, .tunnels])
    func wanted(_ number: UInt64, over relay: NodeID, to remote: NodeID) -> Outcome {
      engine.side.take(.tunnelWanted(TunnelID(rawValue: number), over: relay, to: remote))
    }
    for (number, relay) in [(2, node(4)), (3, node(7))] {
      let outcome = wanted(UInt64(number), over: relay, to: node(3))
      #expect(failure(outcome)?.code == .unreachable && outcome.frames.isEmpty)
    }
    #expect(failure(wanted(4, over: node(1), to: node(1))) != nil)
    for (reason, code) in [
      (Reason.limitExceeded, LinkFailure.Code.connectionLimit), (.notAvailable, .unreachable),
      (.noSuchAssociation, .unreachable), (.timedOut, .timedOut), (.internalError, .reset),
    ] {
      let id = TunnelID(rawValue: 10 + UInt64(reason.rawValue))
      engine.side.take(.tunnelWanted(id, over: node(1), to: node(3)))
      let outcome = engine.members[0].receive(.closeTunnel(tunnel: 1, reason, detail: "words"))
      #expect(failure(outcome) == LinkFailure(code, "words"))
      #expect(engine.members[0].sent(outcome).closes == [.left])
    }
  }

  @Test("is offered by a relay, which names the remote node and the number of relays")
  func offered() {
    let engine = TunnelEngine(members: [1], relays: false)
    let relay = engine.members[0]
    let outcome = relay.receive(.offerTunnel(tunnel: 6, from: node(3), relays: 3))
    let credit = Frame.tunnelCredit(tunnel: 6, consumed: 0, limit: Tunnel.largestWindow)
    #expect(relay.sent(outcome) == [.tunnelOpened(tunnel: 6, relays: 3), credit])
    let route = TunnelRoute(remote: node(3), relays: [relay.far], relayCount: 3)
    #expect(tunnelEvents(outcome) == [.tunnelOffered(TunnelID(rawValue: TunnelID.firstIncoming), route)])
    let data = relay.receive(.tunnelData(tunnel: 6, [1, 2]), .closeTunnel(tunnel: 6, .left, detail: ""))
    #expect(failure(data) == nil && tunnelEvents(data).count == 2)
  }

  @Test("is refused by a node that is reached by its own transports alone")
  func direct() {
    let engine = TunnelEngine(members: [1], relays: false) { $0.transports = [.tcp] }
    let outcome = engine.members[0].receive(.offerTunnel(tunnel: 6, from: node(3), relays: 1))
    #expect(engine.members[0].sent(outcome).closes == [.notAvailable] && tunnelEvents(outcome).isEmpty)
  }

  @Test("goes on where the association under it does, without a byte lost or twice")
  func resumes() {
    let engine = TunnelEngine(members: [1], relays: false)
    let relay = engine.members[0]
    engine.side.take(.tunnelWanted(id, over: relay.far, to: node(3)))
    relay.receive(.tunnelOpened(tunnel: 1, relays: 1))
    relay.receive(.tunnelData(tunnel: 1, bytes(5_000)))
    engine.side.take(.tunnelConsumed(id, byteCount: 5_000))
    engine.side.take(.tunnelWritten(id, [1, 2, 3]))
    let cut = engine.side.take(.linkClosed(relay.link, .failed(LinkFailure(.reset))))
    #expect(tunnelEvents(cut).isEmpty)
    engine.side.take(.tunnelWritten(id, [4]))
    // It has what came before the tunnel's bytes: an accept, and the opening.
    let association = AssociationID(high: 5, low: relay.link.rawValue)
    relay.open(nil, TunnelEngine.capabilities)
    let resumed = relay.receive(.associate(association, received: 2))
    #expect(relay.sent(resumed).tunnelled == [1, 2, 3, 4])
    #expect(relay.sent(resumed).credits.map(\.consumed) == [5_000])
    #expect(tunnelEvents(resumed).allSatisfy { if case .tunnelTaken = $0 { true } else { false } })
  }

  @Test("closed with more waiting than its credit, it still tells what it drops: two that close at once both end")
  func closesAtOnceWithTheOther() {
    let engine = TunnelEngine(members: [1], relays: false)
    let relay = engine.members[0]
    engine.side.take(.tunnelWanted(id, over: relay.far, to: node(3)))
    relay.receive(.tunnelOpened(tunnel: 1, relays: 1))
    engine.side.take(.tunnelWritten(id, bytes(70_000)))
    relay.receive(.tunnelData(tunnel: 1, bytes(600)))
    let closed = engine.side.take(.tunnelClosed(id, isAborted: false))
    #expect(relay.sent(closed).closes == [] && relay.sent(closed).credits.map(\.consumed) == [600])
    let dropped = relay.receive(.tunnelData(tunnel: 1, bytes(10_000)))
    #expect(tunnelEvents(dropped) == [] && relay.sent(dropped).credits.map(\.consumed) == [10_600])
    let credited = relay.receive(.tunnelCredit(tunnel: 1, consumed: 8_192, limit: 131_072))
    #expect(relay.sent(credited).tunnelled.count == 70_000 - 8_192 && relay.sent(credited).closes == [.left])
    relay.receive(.closeTunnel(tunnel: 1, .left, detail: ""))
    #expect(engine.side.census.tunnels == 0)
  }

  @Test("ends with its association")
  func ends() {
    let engine = TunnelEngine(members: [1], relays: false)
    engine.side.take(.tunnelWanted(id, over: node(1), to: node(3)))
    let outcome = engine.members[0].receive(.leave(.left, detail: ""))
    #expect(tunnelEvents(outcome).count == 1 && engine.side.census.tunnels == 0)
  }
}

@Suite("What waits in a tunnel")
struct TunnelQueueTests {
  private func open() -> Tunnel {
    let tunnel = Tunnel(number: 2, isOurs: true, end: nil, relaysBelow: 0)
    tunnel.open()
    return tunnel
  }

  @Test("leaves in its order however it came in pieces")
  func order() {
    for seed in 0..<200 as Range<UInt64> {
      var dice = SeededRandom(seed: seed)
      let tunnel = open()
      tunnel.credit(all: .max / 2)
      var written: [UInt8] = []
      var framed: [UInt8] = []
      for _ in 0..<40 {
        if dice.next() % 3 > 0 {
          let count = dice.next() % 4 == 0 ? 8_192 + dice.next() % 9_000 : dice.next() % 600
          let piece = (0..<count).map { UInt8(truncatingIfNeeded: $0 &+ UInt64(written.count)) }
          written += piece
          tunnel.write(piece[...])
        } else {
          _ = tunnel.takeTurn(into: &framed, room: Int(dice.next() % 20_000), frameLimit: 16_381)
        }
      }
      while tunnel.hasSomething { _ = tunnel.takeTurn(into: &framed, room: 1 << 20, frameLimit: 16_381) }
      var decoder = FrameDecoder(frameLimit: 16_381)
      decoder.push(framed[...])
      var frames: [Frame] = []
      while let frame = try? decoder.next() { frames.append(frame) }
      #expect(frames.tunnelled == written && tunnel.queuedCount == 0, "seed \(seed)")
    }
  }

  @Test("does not keep whole reads alive for the bytes of each that it holds")
  func smallPieces() {
    let tunnel = open()
    var read = [UInt8](repeating: 1, count: 4_096)
    tunnel.write(read[0..<1])
    let place = read.withUnsafeBytes { $0.baseAddress }
    // This write would copy the array if it had a second owner.
    read[0] = 2
    #expect(read.withUnsafeBytes { $0.baseAddress } == place && tunnel.queuedCount == 1)
  }

  @Test("takes what little room there is beside bulk, down to 256 bytes of a long row")
  func littleRoom() {
    for (room, frames) in [(262, 0), (263, 1), (1_030, 1)] as [(Int, UInt64)] {
      let tunnel = open()
      tunnel.write(bytes(9_000))
      var framed: [UInt8] = []
      let turn = tunnel.takeTurn(into: &framed, room: room, frameLimit: 16_381)
      #expect(turn.frames == frames && framed.count <= room && turn.lacksRoom == (frames == 0))
    }
  }

  @Test("stops where the credit ends, and goes on with more")
  func credit() throws {
    let tunnel = open()
    tunnel.write(bytes(70_000))
    var framed: [UInt8] = []
    while tunnel.hasSomething { _ = tunnel.takeTurn(into: &framed, room: 1 << 20, frameLimit: 16_381) }
    #expect(tunnel.sent == WireLimits.tunnelWindow && tunnel.queuedCount == 70_000 - 8_192)
    #expect(try tunnel.credit(consumed: 8_192, limit: 70_000) == 8_192 && tunnel.hasSomething)
    #expect(try tunnel.credit(consumed: 8_000, limit: 1) == 0 && tunnel.limit == 70_000)
    #expect(throws: Breach.self) { try tunnel.credit(consumed: 8_193, limit: 70_000) }
  }
}

extension Tunnel {
  fileprivate func credit(all limit: UInt64) { _ = try? credit(consumed: 0, limit: limit) }
}
