import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Where a member listens")
struct ToldAddressesTests {
  private static let port = ListeningPort(transport: 1, port: 4_711)
  private static let other = ListeningPort(transport: 1, port: 4_712)

  private func resumable(_ hello: inout Hello) { hello.capabilities = .resume }

  /// The far one has dialled us, from a port that it does not listen at.
  private func member(
    over kind: TransportKind = .tcp, from address: String = "192.0.2.7:50123",
    _ change: (inout EngineConfiguration) -> Void = { _ in }
  ) -> OneSided {
    let one = OneSided(
      configuration {
        $0.transports = [.tcp, .l2cap, .rfcomm, .le]
        change(&$0)
      })
    one.traits.kind = kind
    one.traits.remoteAddress = address
    return one.connected(resumable)
  }

  private func told(_ outcome: Outcome) -> [[ListeningPort]] {
    outcome.frames.compactMap { if case .listening(let ports) = $0 { ports } else { nil } }
  }

  private func dialled(_ outcome: Outcome) -> [[TransportAddress]] {
    outcome.effects.compactMap { if case .dial(_, _, let addresses) = $0 { addresses } else { nil } }
  }

  /// The transport of each dial, in the order in which they began.
  private func dials(_ outcome: Outcome) -> [TransportKind] {
    var seen: Set<DialID> = []
    return outcome.effects.compactMap { effect in
      guard case .dial(let dial, let kind, _) = effect, seen.insert(dial).inserted else { return nil }
      return kind
    }
  }

  private func disconnections(_ outcome: Outcome) -> [Ending] {
    outcome.events.compactMap { if case .disconnected(_, let ending) = $0 { ending } else { nil } }
  }

  /// The link is lost, and each dial fails so, for some time.
  /// - Parameters:
  ///   - silent: the transports on which no dial is answered.
  ///   - first: how the first dials fail instead, in their order.
  private func searches(
    _ one: OneSided, for duration: Duration, _ code: LinkFailure.Code = .refused, silent: Set<TransportKind> = [],
    first: [LinkFailure.Code] = []
  ) -> Outcome {
    var first = first[...]
    var outcome = one.side.take(.linkClosed(one.link, .ended))
    var new = outcome
    let end = one.side.now + duration
    while one.side.now < end {
      var failed = Outcome()
      for case .dial(let dial, let kind, _) in new.effects where !silent.contains(kind) {
        failed += one.side.take(.dialFailed(dial, LinkFailure(first.popFirst() ?? code)))
      }
      outcome += failed
      new = one.side.wait(.milliseconds(10))
      new.effects += failed.effects.filter { if case .dial = $0 { true } else { false } }
      outcome += new
    }
    return outcome
  }

  // MARK: Ours

  @Test("is told to members only, with each change of it")
  func tells() {
    let one = OneSided().associated(resumable)
    #expect(told(one.side.take(.listeningChanged([Self.port]))).isEmpty)
    one.receive(.invite(Invite(timeout: 10_000, commitment: someCommitment)))
    one.side.command(.answerInvitation(one.far, accept: true, .declined))
    #expect(told(one.side.log).isEmpty)
    #expect(told(one.receive(.admit)) == [[Self.port]])
    #expect(told(one.side.take(.listeningChanged([Self.port]))).isEmpty)
    #expect(told(one.side.take(.listeningChanged([Self.other]))) == [[Self.other]])
    #expect(told(one.side.take(.listeningChanged([]))) == [[]])
  }

  @Test("is not told where there is nothing to tell")
  func silent() {
    #expect(told(member().side.log).isEmpty)
  }

  @Test("is told again after a resume, what has changed meanwhile too")
  func resumed() {
    let two = TwoSided().connected()
    two.sides[0].take(.listeningChanged([Self.port]))
    two.cutAll(told: [0, 1])
    for ports in [[Self.other], []] {
      two.sides[0].take(.listeningChanged(ports))
      two.settle()
      #expect(told(two.sides[0].log).last == ports)
      two.cutAll(told: [0, 1])
    }
  }

  // MARK: The remote side's

  @Test(
    "is dialled when the link is lost, at the host from which that came",
    arguments: [
      (TransportKind.tcp, "192.0.2.7:50123", ListeningPort(transport: 1, port: 4_711), "192.0.2.7:4711"),
      (.tcp, "[fe80::1%eth0]:50123", ListeningPort(transport: 1, port: 4_711), "[fe80::1%eth0]:4711"),
      (.l2cap, "00:11:22:33:44:55/0x1003", ListeningPort(transport: 2, port: 0x1005), "00:11:22:33:44:55/0x1005"),
      (.rfcomm, "00:11:22:33:44:55/2", ListeningPort(transport: 3, port: 9), "00:11:22:33:44:55/9"),
      (.le, "00:11:22:33:44:55/0x0080", ListeningPort(transport: 4, port: 0x81), "00:11:22:33:44:55/0x0081"),
    ])
  func dials(kind: TransportKind, from: String, port: ListeningPort, to: String) {
    let one = member(over: kind, from: from)
    one.receive(.listening([port]))
    var outcome = one.side.take(.linkClosed(one.link, .ended))
    outcome += one.side.wait(.seconds(2))
    #expect(dialled(outcome).first == [TransportAddress(kind: kind, text: to)])
  }

  @Test("is what was told last: all of it replaces all that was told before")
  func replaced() {
    let one = member()
    one.receive(.listening([Self.port]), .listening([Self.other]))
    #expect(dialled(searches(one, for: .seconds(1))).allSatisfy { $0 == [tcp("192.0.2.7:4712")] })
    let nowhere = member()
    nowhere.receive(.listening([Self.port]), .listening([]))
    #expect(dialled(searches(nowhere, for: .seconds(10))).isEmpty)
  }

  @Test("is ignored from a stranger whose invitation waits for an answer: nothing is dialled")
  func strangers() {
    let one = OneSided()
    one.traits.remoteAddress = "192.0.2.7:50123"
    _ = one.associated(resumable)
    one.receive(.listening([Self.port]), .invite(Invite(timeout: 60_000, commitment: someCommitment)))
    one.receive(.listening([Self.port]))
    #expect(dialled(searches(one, for: .seconds(19))).isEmpty)
  }

  @Test("is taken back after a resume where it was over while there was no link")
  func takenBack() {
    let one = member()
    #expect(told(one.side.take(.listeningChanged([Self.port]))) == [[Self.port]])
    one.side.take(.linkClosed(one.link, .ended))
    #expect(told(one.side.take(.listeningChanged([]))).isEmpty)
    let link = LinkID(rawValue: 2)
    one.side.take(.linkOpened(link, one.opening()))
    #expect(told(one.side.take(.received(link, again(one)))) == [[]])
  }

  /// A hello that holds the association, and what goes on with it.
  private func again(_ one: OneSided) -> Bytes {
    let held = HeldAssociation(id: AssociationID(high: 1, low: 2), received: 0)
    let hello = Hello(
      incarnation: one.far.incarnation, name: "far", sessionID: "test", capabilities: .resume, associationsBegun: 1,
      held: held)
    let again = Frame.associate(AssociationID(high: 1, low: 2), received: 0)
    return (FrameEncoder.encode(.hello(hello)) + FrameEncoder.encode(again))[...]
  }

  @Test("leads nowhere over a transport by which nothing has come, or that we don't know or use")
  func others() {
    let one = member { $0.transports = [.rfcomm] }
    one.receive(
      .listening([Self.port, ListeningPort(transport: 3, port: 9), ListeningPort(transport: 200, port: 1)]))
    #expect(dialled(searches(one, for: .seconds(10))).isEmpty)
  }

  @Test("is not needed where discovery shows the member, or it was dialled")
  func seen() {
    let one = member()
    one.receive(.listening([Self.port]))
    let sighting = Sighting(
      peer: one.far.peer, incarnation: one.far.incarnation, name: "far", info: [:], addresses: [tcp("far")])
    one.side.take(.discoveryReported(source: "test", .seen(sighting)))
    let dials = dialled(searches(one, for: .seconds(1)))
    #expect(!dials.isEmpty && dials.allSatisfy { $0 == [tcp("far")] })
  }

  @Test("does not show that the member has ended where dials are refused: addresses may be translated on the way")
  func refused() {
    let one = member()
    one.receive(.listening([Self.port]))
    let outcome = searches(one, for: .seconds(19))
    #expect(dialled(outcome).count > 3)
    #expect(disconnections(outcome).isEmpty && one.side.census.members == 1)
    #expect(disconnections(one.side.wait(.seconds(2))).map(\.reason) == [.timedOut])
  }

  @Test("says that the member has ended, where no addresses are translated and its host refuses")
  func refusedByTheHost() {
    let one = member { $0.refusalEndsMembers = true }
    one.receive(.listening([Self.port]))
    #expect(disconnections(searches(one, for: .milliseconds(900))).isEmpty)
    let other = member { $0.refusalEndsMembers = true }
    other.receive(.listening([Self.port]))
    let ending = disconnections(searches(other, for: .milliseconds(1_100))).first
    #expect(ending?.reason == .linkFailed && ending?.blame == .peer)
    #expect(ending?.detail.contains("nobody listens") == true)
  }

  @Test("says so over the transport of the lost link, whatever another one leaves unanswered; that one says nothing")
  func refusedOverOne() {
    for (silent, isGone) in [(TransportKind.l2cap, true), (.tcp, false)] {
      let one = member { $0.refusalEndsMembers = true }
      one.receive(.listening([Self.port]))
      let sighting = Sighting(
        peer: one.far.peer, incarnation: one.far.incarnation, name: "far", info: [:],
        addresses: [TransportAddress(kind: .l2cap, text: "00:11:22:33:44:55/0x1005")])
      one.side.take(.discoveryReported(source: "test", .seen(sighting)))
      let outcome = searches(one, for: .milliseconds(1_200), silent: [silent])
      #expect(Set(dialled(outcome).flatMap { $0 }.map(\.kind)) == [.tcp, .l2cap])
      #expect(disconnections(outcome).map(\.reason) == (isGone ? [.linkFailed] : []), "\(silent)")
    }
  }

  /// As over Bluetooth: L2CAP is dialled twice where the host resets it, and a dial over LE goes unanswered.
  @Test("a listener that takes the first dials, and closes with its process, is asked once more within the two seconds")
  func resetAtFirst() {
    let one = member(over: .l2cap, from: "00:11:22:33:44:55/0x1005") { $0.refusalEndsMembers = true }
    let sighting = Sighting(
      peer: one.far.peer, incarnation: one.far.incarnation, name: "far", info: [:],
      addresses: [
        TransportAddress(kind: .l2cap, text: "00:11:22:33:44:55/0x1005"),
        TransportAddress(kind: .le, text: "00:11:22:33:44:55/0x0082"),
      ])
    one.side.take(.discoveryReported(source: "test", .seen(sighting)))
    let outcome = searches(one, for: .seconds(2), silent: [.le], first: [.reset, .reset])
    #expect(disconnections(outcome).map(\.reason) == [.linkFailed])
    #expect(dials(outcome).prefix(4) == [.l2cap, .l2cap, .le, .l2cap])
  }

  @Test("a member whose host goes on resetting keeps its other transport's dial from the second round on")
  func resetForLong() {
    let one = member(over: .l2cap, from: "00:11:22:33:44:55/0x1005") { $0.refusalEndsMembers = true }
    let sighting = Sighting(
      peer: one.far.peer, incarnation: one.far.incarnation, name: "far", info: [:],
      addresses: [
        TransportAddress(kind: .l2cap, text: "00:11:22:33:44:55/0x1005"),
        TransportAddress(kind: .le, text: "00:11:22:33:44:55/0x0082"),
      ])
    one.side.take(.discoveryReported(source: "test", .seen(sighting)))
    let outcome = searches(one, for: .seconds(9), .reset, silent: [.le])
    #expect(disconnections(outcome).isEmpty)
    #expect(dials(outcome) == [.l2cap, .l2cap, .le, .l2cap, .l2cap, .le])
  }

  @Test("says nothing where no addresses are translated either, if the link was only silent, or its host says nothing")
  func noRefusalByTheHost() {
    let silent = member { $0.refusalEndsMembers = true }
    silent.receive(.listening([Self.port]))
    #expect(disconnections(searches(silent, for: .seconds(19), .timedOut)).isEmpty)
    let untold = member { $0.refusalEndsMembers = true }
    #expect(disconnections(searches(untold, for: .seconds(19))).isEmpty)
  }

  @Test("brings the member back, whichever of the two can be dialled")
  func back() {
    let one = member()
    one.receive(.listening([Self.port]))
    var outcome = one.side.take(.linkClosed(one.link, .ended))
    outcome += one.side.wait(.seconds(2))
    let dials = outcome.effects.compactMap { if case .dial(let dial, _, _) = $0 { dial } else { nil } }
    var opening = one.opening(dial: dials.first)
    opening.traits.remoteAddress = "192.0.2.7:4711"
    let link = LinkID(rawValue: 2)
    one.side.take(.linkOpened(link, opening))
    let back = one.side.take(.received(link, again(one)))
    #expect(back.events.contains { if case .resumed = $0 { true } else { false } })
  }

  @Test("a port that another key answers at is tried no more often than any address, and gets nothing but a handshake")
  func stranger() {
    let one = member()
    one.receive(.listening([Self.port]))
    var outcome = one.side.take(.linkClosed(one.link, .ended))
    var count = 0
    for _ in 0..<1_900 {
      for case .dial(let dial, _, _) in outcome.effects {
        count += 1
        var opening = one.opening(dial: dial)
        opening.peer = peer(77)
        let opened = one.side.take(.linkOpened(LinkID(rawValue: UInt64(100 + count)), opening))
        #expect(opened.frames.isEmpty)
      }
      outcome = one.side.wait(.milliseconds(10))
    }
    #expect(count > 2 && count < 20)
  }
}
