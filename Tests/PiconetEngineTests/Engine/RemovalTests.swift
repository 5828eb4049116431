import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Removing a member from the group")
struct RemovalTests {
  /// An engine with three members: the remote side, and two more.
  private func group(_ configuration: EngineConfiguration = configuration { $0.removals = .members }) -> (
    OneSided, OneSidedLink, OneSidedLink
  ) {
    let one = OneSided(configuration).connected { $0.capabilities = .removal }
    return (one, OneSidedLink(one, peer: 2).connect(), OneSidedLink(one, peer: 3).connect())
  }

  /// The frames that went to each link, in order.
  private func sent(_ outcome: Outcome, _ link: LinkID) -> [Frame] {
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
    for case .transmit(link, let bytes) in outcome.effects { decoder.push(bytes) }
    var frames: [Frame] = []
    while let frame = try? decoder.next() { frames.append(frame) }
    return frames
  }

  @Test("a node that removes a member tells all others, each once, and leaves it")
  func removes() {
    let (one, second, third) = group()
    let outcome = one.side.command(.remove(one.far), id: 1)
    #expect(sent(outcome, one.link) == [.leave(.removed, detail: "")])
    for other in [second, third] {
      #expect(sent(outcome, other.link) == [.removeMember(subject: one.far, .removed)])
    }
    #expect(outcome.replies(to: 1).isEmpty)
    let closed = one.side.take(.linkClosed(one.link, .ended))
    #expect(closed.events == [.disconnected(one.far, Ending(.removed, .nobody, by: one.side.node))])
    #expect(closed.replies(to: 1) == [.done])
    #expect(one.side.members == [second.far, third.far])
  }

  @Test("a node that is asked to remove a member tells it who asked, leaves it, and does not pass the request on")
  func asked() {
    let (one, second, third) = group()
    let outcome = second.receive(.removeMember(subject: one.far, .removed))
    #expect(sent(outcome, one.link) == [.removed(by: second.far), .leave(.removed, detail: "")])
    #expect(sent(outcome, second.link) == [] && sent(outcome, third.link) == [])
    let closed = one.side.take(.linkClosed(one.link, .ended))
    #expect(closed.events == [.disconnected(one.far, Ending(.removed, .nobody, by: second.far))])
    // A second request finds no member, and does nothing.
    #expect(third.receive(.removeMember(subject: one.far, .removed)).effects == [])
  }

  @Test("a removed node learns who removed it: the side that leaves it, or the node which that side names")
  func removed() {
    for by in [nil, node(5)] {
      let one = OneSided().connected()
      if let by { one.receive(.removed(by: by)) }
      let outcome = one.receive(.leave(.removed, detail: ""))
      #expect(outcome.events == [.disconnected(one.far, Ending(.removed, .peer, by: by ?? one.far))])
    }
  }

  @Test("a request is ignored if removal is not allowed")
  func notAllowed() {
    let (one, second, _) = group(configuration { $0.removals = .nobody })
    #expect(second.receive(.removeMember(subject: one.far, .removed)).effects == [])
    #expect(one.side.members.count == 3)
  }

  @Test("by default a member can't have a node removed that it has not introduced")
  func notByAnybody() {
    let (one, second, _) = group(configuration())
    #expect(second.receive(.removeMember(subject: one.far, .removed)).effects == [])
    #expect(one.side.members.count == 3)
  }

  @Test("an unknown node, and another incarnation of a member, are not removed")
  func unknown() {
    let (one, second, _) = group()
    let other = NodeID(peer: one.far.peer, incarnation: Incarnation(rawValue: 77))
    #expect(second.receive(.removeMember(subject: node(7), .removed)).effects == [])
    #expect(second.receive(.removeMember(subject: other, .removed)).effects == [])
    #expect(one.side.members.count == 3)
  }

  @Test(
    "1,024 words about members that come to nothing are ignored, and with the next one the association ends",
    arguments: [
      Frame.removeMember(subject: node(7), .removed), .removed(by: node(7)),
      .askToIntroduce(node(7)),
    ])
  func endless(frame: Frame) {
    let (one, second, _) = group()
    for _ in 1...1_024 { second.receive(frame) }
    #expect(one.side.members.count == 3)
    #expect(second.receive(frame).closeReason == .limitExceeded)
    #expect(!one.side.members.contains(second.far))
  }

  @Test("a second after the 1,024th there is room for one more")
  func later() {
    let (one, second, _) = group()
    let frame = Frame.removeMember(subject: node(7), .removed)
    for _ in 1...1_024 { second.receive(frame) }
    one.side.wait(.seconds(1))
    second.receive(frame)
    #expect(one.side.members.contains(second.far))
    #expect(second.receive(frame).closeReason == .limitExceeded)
  }

  @Test("a removal that is followed is not among the 1,024 that come to nothing")
  func followedDoesNotCount() {
    let (one, second, _) = group()
    for _ in 1...1_023 { second.receive(.removeMember(subject: node(7), .removed)) }
    second.receive(.removeMember(subject: one.far, .removed))
    second.receive(.removeMember(subject: node(7), .removed))
    #expect(one.side.members.contains(second.far))
    #expect(second.receive(.removeMember(subject: node(7), .removed)).closeReason == .limitExceeded)
  }

  @Test("a node that removes more members than the limit still leaves the next one, and is told that it asked no other")
  func tooManyOfOurs() {
    let one = OneSided(configuration { $0.removals = .members }).connected { $0.capabilities = .removal }
    func removed(_ number: UInt64) -> (Outcome, OneSidedLink) {
      let other = OneSidedLink(one, peer: 2, incarnation: number).connect()
      let outcome = one.side.command(.remove(other.far), id: number)
      one.side.take(.linkClosed(other.link, .ended))
      #expect(!one.side.members.contains(other.far))
      return (outcome, other)
    }
    for number in 1...512 as ClosedRange<UInt64> {
      let (outcome, other) = removed(number)
      #expect(sent(outcome, one.link) == [.removeMember(subject: other.far, .removed)])
    }
    let (refused, _) = removed(513)
    guard case .failed(let ending)? = refused.replies(to: 513).first else {
      Issue.record("it is not refused")
      return
    }
    #expect(ending.reason == .limitExceeded)
    #expect(sent(refused, one.link) == [])
    one.side.wait(.seconds(2))
    let (later, other) = removed(514)
    #expect(sent(later, one.link) == [.removeMember(subject: other.far, .removed)])
  }

  @Test("a member that does not understand removals is asked nothing, and told nothing but the leave")
  func withoutCapability() {
    let one = OneSided(configuration { $0.removals = .members }).connected()
    let second = OneSidedLink(one, peer: 2).connect([])
    let third = OneSidedLink(one, peer: 3).connect()
    let outcome = third.receive(.removeMember(subject: second.far, .removed))
    #expect(sent(outcome, second.link) == [.leave(.removed, detail: "")])
    #expect(sent(one.side.command(.remove(third.far)), one.link) == [])
  }

  @Test("a removal of oneself, of the receiver, or by one that is no member breaks the protocol")
  func breaches() {
    for subject in [node(1), node(9)] {
      let one = OneSided().connected()
      #expect(one.receive(.removeMember(subject: subject, .removed)).closeReason == .protocolBroken)
    }
    for frame in [Frame.removeMember(subject: node(5), .removed), .removed(by: node(5))] {
      let one = OneSided().associated()
      #expect(one.receive(frame).closeReason == .protocolBroken)
    }
  }

  @Test("of two members that remove each other the first is heard")
  func mutual() {
    let (one, second, third) = group()
    second.receive(.removeMember(subject: third.far, .removed))
    #expect(third.receive(.removeMember(subject: second.far, .removed)).effects == [])
    one.side.take(.linkClosed(third.link, .ended))
    #expect(one.side.members == [one.far, second.far])
  }

  @Test("a removed member that does not answer is gone within a second, one that is left has its time")
  func unreachable() {
    for (command, time) in [(Command.remove(node(1)), Removals.leaveTimeout), (.leave(node(1), .left), .seconds(5))] {
      let one = OneSided().connected { $0.capabilities = [.removal, .resume] }
      one.side.command(command, id: 1)
      #expect(one.side.wait(time - .nanoseconds(1)).replies(to: 1).isEmpty)
      #expect(one.side.wait(.nanoseconds(1)).replies(to: 1) == [.done])
      #expect(one.side.census.members == 0)
    }
  }

  @Test("a removed member is gone with its link, before the goodbye or after it, and hears of it when it comes back")
  func lostLink() {
    for isTold in [false, true] {
      // Without room for the message before it the goodbye waits.
      let one = OneSided().connected {
        $0.capabilities = [.removal, .resume]
        if !isTold { $0.limits.messageWindow = 0 }
      }
      one.side.take(.messageQueued(one.far, bytes(3), .reliable))
      #expect(one.side.command(.remove(one.far), id: 1).frames.contains(.leave(.removed, detail: "")) == isTold)
      let lost = one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
      let blame = isTold ? Blame.nobody : .us
      #expect(lost.events == [.disconnected(one.far, Ending(.removed, blame, by: one.side.node))])
      #expect(lost.replies(to: 1) == [.done])
      let link = LinkID(rawValue: 2)
      one.side.take(.linkOpened(link, one.opening()))
      let held = HeldAssociation(id: AssociationID(high: 1, low: 2), received: 0)
      let hello = Hello(
        incarnation: one.far.incarnation, name: "far", sessionID: "test", capabilities: .resume, associationsBegun: 1,
        held: held)
      let again = [Frame.hello(hello), .associate(held.id, received: 0)].flatMap { FrameEncoder.encode($0) }
      #expect(one.side.take(.received(link, again[...])).closeReason == .removed)
    }
  }

  @Test("only members can be removed, and only once")
  func notMember() {
    let one = OneSided().associated()
    guard case .failed(let ending)? = one.side.command(.remove(one.far), id: 1).replies(to: 1).first else {
      Issue.record("removed")
      return
    }
    #expect(ending.reason == .noSuchAssociation && ending.blame == .us)
    let other = OneSided().connected()
    other.side.command(.remove(other.far), id: 1)
    guard case .failed? = other.side.command(.remove(other.far), id: 2).replies(to: 2).first else {
      Issue.record("removed twice")
      return
    }
  }
}
