import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("A hidden node that expects a peer")
struct ExpectedPeerTests {
  private static let minute = Duration.seconds(60)

  /// A hidden node; the far one dials it.
  private func hidden(isSmaller: Bool = false) -> OneSided {
    let one = OneSided(isSmaller: isSmaller)
    one.side.take(.availabilityChanged(false))
    return one
  }

  private func expecting(_ duration: Duration = minute, isSmaller: Bool = false) -> OneSided {
    let one = hidden(isSmaller: isSmaller)
    #expect(one.side.command(.expect(one.far.peer, for: duration), id: 7).replies(to: 7) == [.done])
    return one
  }

  private func expectsPeers(_ one: OneSided) -> Bool { one.side.engine.expectsPeers }
  private func expectsLinks(_ one: OneSided) -> Bool { one.side.engine.expectsAnybody }

  private func failure(_ replies: [Reply]) -> Ending? {
    if case .failed(let ending)? = replies.first { ending } else { nil }
  }

  @Test("lets it in, and asks about its invitation as about any other", arguments: [false, true])
  func letsIn(isSmaller: Bool) {
    let one = expecting(isSmaller: isSmaller).associated()
    let asked = one.receive(.invite(Invite(timeout: 10_000, commitment: someCommitment)))
    #expect(asked.events.contains { if case .invitationReceived = $0 { true } else { false } })
    #expect(one.side.census.members == 0)
    one.side.command(.answerInvitation(one.far, accept: true, .declined))
    one.receive(.admit)
    #expect(one.side.members == [one.far])
  }

  @Test("leaves it to the trust policy whether the key is let in")
  func trust() {
    let one = expecting()
    one.side.judgement = .refused(.identity, detail: "blocked")
    #expect(one.open().closeReason == .identity)
    #expect(one.side.census.links == 0)
  }

  @Test("refuses any other key, whatever its name, as a hidden node that expects no peer does")
  func others() {
    func outcome(of side: Side) -> Outcome {
      let stranger = node(3)
      let link = LinkID(rawValue: 4)
      side.take(.linkOpened(link, LinkOpening(dial: nil, peer: stranger.peer, traits: someTraits)))
      // The name, and the incarnation, of the one that is expected.
      let hello = Hello(incarnation: node(1).incarnation, name: "far", sessionID: "test")
      return side.take(.received(link, FrameEncoder.encode(.hello(hello))[...]))
    }
    let (with, without) = (outcome(of: expecting().side), outcome(of: hidden().side))
    #expect(with.closeReason == .notAvailable)
    #expect(with.effects == without.effects && with.frames == without.frames)
  }

  @Test("lets it in to the last moment, and not at the end of its time, also where the timer is late")
  func edge() {
    let end = seconds(1) + Self.minute
    for (now, isIn) in [(Instant(nanoseconds: end.nanoseconds - 1), true), (end, false), (end + .seconds(1), false)] {
      let one = expecting()
      one.side.now = now
      let outcome = one.open()
      #expect(outcome.closeReason == (isIn ? nil : .notAvailable), "\(now)")
      #expect(one.side.census.links == (isIn ? 1 : 0), "\(now)")
    }
  }

  @Test("begins no association on a link whose handshake outlasts the time")
  func outlasted() {
    let one = expecting()
    one.side.wait(Self.minute - .seconds(1))
    one.open()
    one.side.now = seconds(1) + Self.minute
    let outcome = one.receive(.associate(AssociationID(high: 1, low: 2), received: 0))
    #expect(outcome.closeReason == .notAvailable)
    #expect(one.side.census.associations == 0 && one.side.census.links == 0)
  }

  @Test("keeps who is there when the time is over, and lets a question that was put be answered")
  func stays() {
    let one = expecting(.seconds(5)).associated()
    one.receive(.invite(Invite(timeout: 60_000, commitment: someCommitment)))
    one.side.wait(.seconds(6))
    #expect(!expectsPeers(one))
    one.side.command(.answerInvitation(one.far, accept: true, .declined))
    one.receive(.admit)
    #expect(one.side.members == [one.far])
  }

  @Test("is no place to ask again once the time is over, on the former link or another one")
  func asksAgain() {
    func declined() -> OneSided {
      let one = expecting(.seconds(5)).associated()
      one.receive(.invite(Invite(timeout: 60_000, commitment: someCommitment)))
      one.side.command(.answerInvitation(one.far, accept: false, .declined))
      one.side.wait(.seconds(6))
      #expect(one.side.census.associations == 1)
      return one
    }
    let one = declined()
    let asked = one.receive(.invite(Invite(timeout: 60_000, commitment: someCommitment)))
    #expect(asked.closeReason == .notAvailable && asked.events.isEmpty)
    #expect(one.side.census.associations == 0 && one.side.census.links == 0)

    let held = HeldAssociation(id: AssociationID(high: 1, low: 2), received: 0)
    for held in [nil, held] {
      let other = declined()
      let link = LinkID(rawValue: 2)
      other.side.take(.linkOpened(link, other.opening()))
      let outcome = other.side.take(.received(link, FrameEncoder.encode(other.hello { $0.held = held })[...]))
      #expect(outcome.frames.count == 2 && outcome.frames.allSatisfy { $0 == .close(.notAvailable, detail: "") })
      #expect(other.side.census.associations == 0 && other.side.census.links == 0)
    }
  }

  @Test("lets it in as often as it comes")
  func again() {
    let one = expecting()
    for number: UInt64 in 1...3 {
      let link = LinkID(rawValue: number)
      one.side.take(.linkOpened(link, one.opening()))
      let outcome = one.side.take(.received(link, FrameEncoder.encode(one.hello())[...]))
      #expect(outcome.closeReason == nil)
      one.side.take(.linkClosed(link, .ended))
    }
  }

  @Test("forgets it when its time is over, which it waits for, or when it is taken back")
  func ends() {
    let one = expecting()
    #expect(expectsPeers(one) && expectsLinks(one))
    #expect(one.side.nextDeadline == seconds(1) + Self.minute)
    one.side.wait(Self.minute)
    #expect(!expectsLinks(one) && one.side.nextDeadline == nil)

    let other = expecting()
    #expect(other.side.command(.stopExpecting(other.far.peer), id: 8).replies(to: 8) == [.done])
    #expect(!expectsLinks(other) && other.side.census.nextDeadline == nil)
    #expect(other.open().closeReason == .notAvailable)
  }

  @Test("has the new time for one that it expects again, a longer or a shorter one")
  func renewed() {
    for (duration, isIn) in [(Duration.seconds(120), true), (.seconds(10), false)] {
      let one = expecting()
      one.side.command(.expect(one.far.peer, for: duration))
      one.side.wait(.seconds(70))
      #expect((one.open().closeReason == nil) == isIn)
    }
  }

  @Test("expects 64 keys at most, and says so; one that it expects already, or after one is over, it can")
  func limit() {
    let side = hidden().side
    for byte: UInt8 in 101...164 {
      let duration = byte == 101 ? Duration.seconds(10) : .seconds(60)
      #expect(side.command(.expect(peer(byte), for: duration), id: 1).replies(to: 1) == [.done])
    }
    let refused = failure(side.command(.expect(peer(200), for: Self.minute), id: 2).replies(to: 2))
    #expect(refused == Ending(.limitExceeded, .us, "64 peers are expected"))
    #expect(side.command(.expect(peer(102), for: Self.minute), id: 3).replies(to: 3) == [.done])
    // Over, and the timer has not said so yet.
    side.now = side.now + .seconds(10)
    #expect(side.command(.expect(peer(200), for: Self.minute), id: 4).replies(to: 4) == [.done])
    side.command(.stopExpecting(peer(102)))
    #expect(side.command(.expect(peer(201), for: Self.minute), id: 5).replies(to: 5) == [.done])
  }

  @Test("takes more than no time and at most a day, and names the rule")
  func durations() {
    let one = hidden()
    let day = Duration.seconds(24 * 3_600)
    for duration: Duration in [.zero, .seconds(-1), day + .nanoseconds(1)] {
      let refused = failure(one.side.command(.expect(one.far.peer, for: duration), id: 2).replies(to: 2))
      #expect(refused?.detail == "a peer is expected for more than 0 s, and at most 24 hours")
      #expect(refused?.reason == .limitExceeded)
    }
    for duration: Duration in [.nanoseconds(1), day] {
      #expect(one.side.command(.expect(one.far.peer, for: duration), id: 3).replies(to: 3) == [.done])
    }
  }

  @Test("stops expecting peers when it shuts down, and refuses to expect more")
  func shutdown() {
    let one = expecting()
    one.side.command(.shutDown)
    #expect(!expectsLinks(one) && one.side.census.nextDeadline == nil)
    let refused = failure(one.side.command(.expect(one.far.peer, for: Self.minute), id: 9).replies(to: 9))
    #expect(refused?.reason == .shuttingDown)
  }

  @Test("goes on expecting it when it is open meanwhile")
  func shown() {
    let one = expecting()
    one.side.take(.availabilityChanged(true))
    one.side.take(.availabilityChanged(false))
    #expect(one.open().closeReason == nil)
  }

  @Test("has room for it beside a thousand links of strangers, all of which are refused")
  func crowd() {
    let one = expecting()
    var mostLinks = 0
    for number: UInt64 in 1...1_000 {
      let bytes = (0..<PeerID.byteCount).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0 % 8))) }
      guard let stranger = PeerID(bytes: bytes) else { return }
      let link = LinkID(rawValue: 100 + number)
      one.side.take(.linkOpened(link, LinkOpening(dial: nil, peer: stranger, traits: someTraits)))
      // One in three says nothing.
      guard number % 3 != 0 else { continue }
      let hello = Hello(incarnation: Incarnation(rawValue: number), name: "far", sessionID: "test")
      let outcome = one.side.take(.received(link, FrameEncoder.encode(.hello(hello))[...]))
      if outcome.closeReason != .notAvailable { Issue.record("\(number): \(outcome.frames)") }
      mostLinks = max(mostLinks, one.side.engine.links.count)
    }
    #expect(mostLinks <= configuration().handshakeLimit)
    #expect(one.side.census.associations == 0)
    #expect(one.associated().side.census.associations == 1)
  }

  @Test("meets another one that expects it, by address, however their links and frames cross")
  func crossing() {
    for seed: UInt64 in 0..<100 {
      let two = TwoSided()
      for (index, side) in two.sides.enumerated() {
        side.take(.availabilityChanged(false))
        side.command(.expect(two.sides[1 - index].node.peer, for: Self.minute))
        two.scripts[index] = [
          { $0.command(.invite(.addresses([tcp("far")], expected: nil), context: [], timeout: .seconds(30)), id: 1) }
        ]
      }
      var random = SeededRandom(seed: seed)
      two.run(&random)
      for (index, side) in two.sides.enumerated() {
        let far = two.sides[1 - index].node
        #expect(side.log.replies(to: 1) == [.connected(far)] && side.members == [far], "seed \(seed)")
      }
    }
  }
}
