import PiconetWire
import Testing

@testable import PiconetEngine

extension SessionEngine {
  fileprivate func association(with far: NodeID) -> AssociationID? { associations[far]?.id }
}

@Suite("An association without a link")
struct SuspensionTests {
  private func resumable(_ hello: inout Hello) { hello.capabilities = .resume }

  private func member(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> OneSided {
    OneSided(configuration(change)).connected(resumable)
  }

  private func lose(_ one: OneSided, _ end: LinkEnd = .failed(LinkFailure(.reset))) -> Outcome {
    one.side.take(.linkClosed(one.link, end))
  }

  private func disconnections(_ outcome: Outcome) -> [Ending] {
    outcome.events.compactMap { if case .disconnected(_, let ending) = $0 { ending } else { nil } }
  }

  private func suspensions(_ outcome: Outcome) -> [Ending] {
    outcome.events.compactMap { if case .suspended(_, let ending) = $0 { ending } else { nil } }
  }

  @Test("a lost link suspends a member, which leaves after the disconnect timeout and not before")
  func endsInTime() {
    let one = member()
    #expect(suspensions(lose(one)).map(\.reason) == [.linkFailed])
    #expect(one.side.census.members == 1)
    #expect(disconnections(one.side.wait(.milliseconds(19_990))).isEmpty)
    #expect(disconnections(one.side.wait(.milliseconds(20))).map(\.reason) == [.timedOut])
    #expect(one.side.census.associations == 0)
    #expect(one.side.nextDeadline == nil)
  }

  @Test("a silent peer is suspended after half of the timeout and gone after the whole, from when it was last heard")
  func silence() {
    let one = member { $0.disconnectTimeout = .seconds(8) }
    let early = one.side.wait(.milliseconds(3_990))
    #expect(suspensions(early).isEmpty)
    #expect(suspensions(one.side.wait(.milliseconds(20))).map(\.reason) == [.timedOut])
    #expect(disconnections(one.side.wait(.milliseconds(3_980))).isEmpty)
    #expect(disconnections(one.side.wait(.milliseconds(20))).map(\.reason) == [.timedOut])
  }

  @Test("with a timeout of 0 a lost link ends the association at once")
  func zero() {
    let one = member { $0.disconnectTimeout = .zero }
    let outcome = lose(one)
    #expect(suspensions(outcome).isEmpty)
    #expect(disconnections(outcome).map(\.reason) == [.linkFailed])
  }

  @Test("a remote side that does not resume is gone with its link")
  func withoutCapability() {
    let one = OneSided().connected()
    #expect(disconnections(lose(one)).map(\.reason) == [.linkFailed])
  }

  @Test("the timeout can be changed while a member is suspended; what is no timeout is refused")
  func changed() {
    let one = member()
    _ = lose(one)
    #expect(one.side.command(.setDisconnectTimeout(.milliseconds(50)), id: 7).replies(to: 7).count == 1)
    #expect(disconnections(one.side.log).isEmpty)
    let outcome = one.side.command(.setDisconnectTimeout(.zero), id: 8)
    #expect(outcome.replies(to: 8) == [.done])
    #expect(disconnections(outcome).map(\.reason) == [.linkFailed])
  }

  @Test("a rule that the peer breaks ends the association with the link")
  func breach() {
    let one = member()
    let outcome = one.receive(.codeReveal(someNonce))
    #expect(suspensions(outcome).isEmpty)
    #expect(disconnections(outcome).map(\.reason) == [.protocolBroken])
  }

  @Test(
    "a close ends the link only where its reason says so",
    arguments: [(Reason.linkFailed, true), (.timedOut, true), (.shuttingDown, false), (.noSuchAssociation, false)])
  func closeFrame(reason: Reason, isOnlyLink: Bool) {
    let outcome = member().receive(.close(reason, detail: ""))
    #expect(suspensions(outcome).count == (isOnlyLink ? 1 : 0))
    #expect(disconnections(outcome).count == (isOnlyLink ? 0 : 1))
  }

  @Test("leaving a suspended member ends at once")
  func leave() {
    let one = member()
    _ = lose(one)
    let outcome = one.side.command(.leave(one.far, .left), id: 9)
    #expect(outcome.replies(to: 9) == [.done])
    #expect(disconnections(outcome).map(\.reason) == [.left])
    #expect(one.side.census.associations == 0)
  }

  @Test("shutting down ends suspended members")
  func shutDown() {
    let one = member()
    _ = lose(one)
    let outcome = one.side.command(.shutDown, id: 9)
    #expect(outcome.replies(to: 9) == [.done])
    #expect(outcome.effects.contains(.finished))
  }

  @Test("messages of a suspended member wait, and what it is offered and answered, within the limits")
  func queues() {
    let one = member()
    _ = lose(one)
    #expect(one.side.take(.messageQueued(one.far, bytes(100), .reliable)).frames.isEmpty)
    #expect(one.side.census.queuedBytes == 132)
    // An unreliable message does not wait for another link.
    one.side.take(.messageQueued(one.far, bytes(100), .unreliable))
    #expect(one.side.census.queuedBytes == 132)
  }

  @Test("another key, and another node of the same key, can't take the association")
  func strangers() {
    let one = member()
    _ = lose(one)
    let link = LinkID(rawValue: 2)
    let stranger = LinkOpening(
      dial: nil, peer: peer(5), traits: someTraits)
    one.side.take(.linkOpened(link, stranger))
    var hello = Hello(incarnation: Incarnation(rawValue: 5), name: "stranger", sessionID: "test", capabilities: .resume)
    hello.held = HeldAssociation(id: AssociationID(high: 1, low: 2), received: 0)
    func say(_ frames: Frame...) -> Outcome {
      one.side.take(.received(link, frames.flatMap { FrameEncoder.encode($0) }[...]))
    }
    _ = say(.hello(hello))
    let outcome = say(.associate(AssociationID(high: 1, low: 2), received: 1))
    #expect(outcome.closeReason == .noSuchAssociation)
    #expect(one.side.members == [one.far])
  }

  @Test(
    "a member that resumes with an impossible count is disconnected, and no other member is",
    arguments: [UInt64(50), 1 << 40, VariableInteger.max], [true, false])
  func countsAhead(received: UInt64, isSmaller: Bool) {
    let one = OneSided(isSmaller: isSmaller).connected(resumable)
    let other = OneSidedLink(one, peer: isSmaller ? 7 : 3)
    if !isSmaller { other.connect(.resume) }
    _ = lose(one)
    let link = LinkID(rawValue: 2)
    one.side.take(.linkOpened(link, one.opening()))
    let held = AssociationID(high: 1, low: 2)
    let hello = one.hello { hello in
      hello.capabilities = .resume
      hello.associationsBegun = 1
      hello.held = HeldAssociation(
        id: isSmaller ? one.side.engine.association(with: one.far) ?? held : held, received: received)
    }
    for frame in [
      hello,
      isSmaller ? .associated(received: received, begun: 1) : .associate(held, received: received),
    ] {
      one.side.take(.received(link, FrameEncoder.encode(frame)[...]))
    }
    #expect(disconnections(one.side.log).map(\.reason) == [.protocolBroken])
    #expect(one.side.members == (isSmaller ? [] : [other.far]))
    #expect(one.side.census.links == (isSmaller ? 0 : 1))
  }

  @Test("an association's beginning that comes late, over a link that its node has given up, is no move to that link")
  func lateBeginning() {
    let one = OneSided()
    let id = AssociationID(high: 1, low: 2)
    one.open { $0.capabilities = .resume }
    // What follows on that link is on its way for long: the node gives it up, and says all again over another one.
    let link = LinkID(rawValue: 2)
    one.side.take(.linkOpened(link, one.opening()))
    let hello = one.hello {
      $0.capabilities = .resume
      $0.associationsBegun = 1
      $0.held = HeldAssociation(id: id, received: 0)
    }
    for frame in [hello, .associate(id, received: 0)] {
      one.side.take(.received(link, FrameEncoder.encode(frame)[...]))
    }
    let late = one.receive(
      .associate(id, received: 0), .invite(Invite(timeout: 10_000, commitment: someCommitment)))
    #expect(late.closeReason == .duplicateLink && late.events == [])
    #expect(one.side.census.associations == 1 && one.side.census.links == 1)
    one.side.take(
      .received(link, FrameEncoder.encode(.invite(Invite(timeout: 10_000, commitment: someCommitment)))[...]))
    one.side.command(.answerInvitation(one.far, accept: true, .declined))
    one.side.take(.received(link, FrameEncoder.encode(.admit)[...]))
    #expect(one.side.members == [one.far])
  }

  @Test("a member that comes back with less than it has acknowledged has lost the association")
  func countsBehind() {
    let one = member()
    for _ in 0..<3 { one.side.take(.messageQueued(one.far, bytes(10), .reliable)) }
    one.receive(.acknowledge(received: 3))
    _ = lose(one)
    let link = LinkID(rawValue: 2)
    one.side.take(.linkOpened(link, one.opening()))
    let held = AssociationID(high: 1, low: 2)
    let hello = one.hello {
      $0.capabilities = .resume
      $0.held = HeldAssociation(id: held, received: 0)
    }
    for frame in [hello, .associate(held, received: 0)] {
      one.side.take(.received(link, FrameEncoder.encode(frame)[...]))
    }
    #expect(disconnections(one.side.log).map(\.reason) == [.linkFailed])
    #expect(one.side.census.associations == 0)
  }

  /// Loses the link, and answers every dial of the search with this failure for so many seconds.
  private func search(_ code: LinkFailure.Code, for seconds: Int, after end: LinkEnd) -> Outcome {
    let one = member()
    let sighting = Sighting(
      peer: one.far.peer, incarnation: one.far.incarnation, name: "far", info: [:], addresses: [tcp("far")])
    one.side.take(.discoveryReported(source: "test", .seen(sighting)))
    var outcome = lose(one, end)
    var new = outcome
    for _ in 0..<(seconds * 100) {
      let dials = new.effects.compactMap { if case .dial(let dial, _, _) = $0 { dial } else { nil } }
      new = one.side.wait(.milliseconds(10))
      for dial in dials { new += one.side.take(.dialFailed(dial, LinkFailure(code))) }
      outcome += new
    }
    return outcome
  }

  @Test("a peer whose link the kernel has closed, and that refuses everywhere, is gone after a grace of two seconds")
  func processGone() {
    #expect(disconnections(search(.refused, for: 1, after: .ended)).isEmpty)
    let ending = disconnections(search(.refused, for: 6, after: .ended)).first
    #expect(ending?.reason == .linkFailed && ending?.blame == .peer)
    #expect(ending?.detail.contains("nobody listens") == true)
  }

  @Test("a peer that can't be reached may come back until the timeout")
  func unreachable() {
    #expect(disconnections(search(.unreachable, for: 19, after: .ended)).isEmpty)
  }

  @Test("a search that meets another key at one address goes on with the others in the same round")
  func strangerInSearch() {
    let one = member()
    let sighting = Sighting(
      peer: one.far.peer, incarnation: one.far.incarnation, name: "far", info: [:],
      addresses: [tcp("stranger"), tcp("far")])
    one.side.take(.discoveryReported(source: "test", .seen(sighting)))
    _ = lose(one)
    let dials = one.side.wait(.seconds(2)).effects.compactMap { effect -> (DialID, [TransportAddress])? in
      if case .dial(let dial, _, let addresses) = effect { (dial, addresses) } else { nil }
    }
    #expect(dials.map(\.1) == [[tcp("stranger")], [tcp("far")]])
    var opening = one.opening(dial: dials.first?.0)
    opening.peer = peer(77)
    opening.traits.remoteAddress = "stranger"
    let outcome = one.side.take(.linkOpened(LinkID(rawValue: 7), opening))
    #expect(outcome.effects.contains(.closeLink(LinkID(rawValue: 7), flush: false)))
    let own = one.side.take(.linkOpened(LinkID(rawValue: 8), one.opening(dial: dials.last?.0)))
    guard case .hello? = own.frames.first else {
      Issue.record("\(own.effects)")
      return
    }
  }

  @Test("if one of three addresses broke off, a refusal at another does not mean that the member has ended")
  func refusesBesideAPlantedOne() {
    let one = member()
    let sighting = Sighting(
      peer: one.far.peer, incarnation: one.far.incarnation, name: "far", info: [:],
      addresses: [tcp("planted"), tcp("closed"), tcp("far")])
    one.side.take(.discoveryReported(source: "test", .seen(sighting)))
    var waiting = lose(one).effects
    for _ in 0..<400 {
      while !waiting.isEmpty {
        guard case .dial(let dial, _, let addresses) = waiting.removeFirst() else { continue }
        let isPlanted = addresses.contains(tcp("planted"))
        waiting +=
          one.side.take(
            .dialFailed(dial, LinkFailure(isPlanted ? .reset : .refused), at: isPlanted ? "planted" : nil)
          ).effects
      }
      waiting = one.side.wait(.milliseconds(10)).effects
    }
    #expect(one.side.census.members == 1, "after four seconds of twenty")
  }

  @Test("a refusal at one of several addresses, dialled alone, does not mean that the member has ended")
  func oneOfSeveralRefuses() {
    let one = member()
    let sighting = Sighting(
      peer: one.far.peer, incarnation: one.far.incarnation, name: "far", info: [:],
      addresses: [tcp("stranger"), tcp("far")])
    one.side.take(.discoveryReported(source: "test", .seen(sighting)))
    var waiting = lose(one).effects
    var codes: [LinkFailure.Code] = [.authentication, .refused, .timedOut]
    for _ in 0..<400 {
      while !waiting.isEmpty {
        guard case .dial(let dial, _, _) = waiting.removeFirst() else { continue }
        waiting += one.side.take(.dialFailed(dial, LinkFailure(codes[0]))).effects
        codes.append(codes.removeFirst())
      }
      waiting = one.side.wait(.milliseconds(10)).effects
    }
    #expect(one.side.census.members == 1, "after four seconds of twenty")
  }
}
