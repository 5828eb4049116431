import PiconetWire

@testable import PiconetEngine

/// A node played by the test, which can dial the engine or be dialled by it.
final class PlayedNode {
  let one: OneSided
  let far: NodeID
  private(set) var link: LinkID

  /// - Parameter number: of its first link; each further one is one more.
  init(_ one: OneSided, _ far: NodeID, link number: UInt64) {
    self.one = one
    self.far = far
    link = LinkID(rawValue: number)
  }

  @discardableResult
  func receive(_ frames: Frame...) -> Outcome {
    one.side.take(.received(link, frames.flatMap { FrameEncoder.encode($0) }[...]))
  }

  /// The link opens, and both say hello.
  /// - Parameter dial: ours; nil: it dials us.
  @discardableResult
  func open(_ dial: DialID? = nil, _ capabilities: Capabilities = [.removal, .introductions]) -> Outcome {
    link = LinkID(rawValue: link.rawValue + 1)
    var outcome = one.side.take(.linkOpened(link, LinkOpening(dial: dial, peer: far.peer, traits: one.traits)))
    outcome += receive(
      .hello(Hello(incarnation: far.incarnation, name: "played", sessionID: "test", capabilities: capabilities)))
    return outcome
  }

  /// The same, and an association begins.
  @discardableResult
  func associate(_ dial: DialID? = nil, _ capabilities: Capabilities = [.removal, .introductions]) -> Outcome {
    var outcome = open(dial, capabilities)
    if far < one.side.node {
      outcome += receive(.associate(AssociationID(high: 5, low: link.rawValue), received: 0))
    } else {
      outcome += receive(.associated(received: 0, begun: 1))
    }
    return outcome
  }

  @discardableResult
  func invites(_ terms: InvitationTerms = []) -> Outcome {
    receive(.invite(Invite(timeout: 10_000, terms: terms, commitment: someCommitment)))
  }

  /// It becomes a member by an invitation of its own.
  @discardableResult
  func connect(_ capabilities: Capabilities = [.removal, .introductions]) -> PlayedNode {
    associate(nil, capabilities)
    invites()
    one.side.command(.answerInvitation(far, accept: true, .declined))
    receive(.admit)
    return self
  }

  /// It wants us as we want it: their invitations cross.
  @discardableResult
  func crosses() -> Outcome {
    var outcome = invites()
    outcome += receive(.accept)
    return outcome
  }

  @discardableResult
  func introduces(
    _ subject: NodeID, timeout: UInt64 = 30_000, name: String = "introduced", at addresses: [HostAddress] = [somewhere]
  ) -> Outcome {
    receive(.introduce(Introduce(subject, timeout: timeout, name: name, addresses: addresses)))
  }

  /// The frames that went to it.
  func sent(_ outcome: Outcome) -> [Frame] { outcome.sent(link) }
}

/// Another global address for each number.
func place(_ number: UInt16) -> HostAddress {
  HostAddress(transport: 1, host: [203, 0, UInt8(number >> 8), UInt8(truncatingIfNeeded: number)], port: 4_711)
}

let somewhere = HostAddress(transport: 1, host: [203, 0, 113, 7], port: 4_711)
let somewhereText = "203.0.113.7:4711"

extension Outcome {
  /// The frames that went to a link, in order.
  func sent(_ link: LinkID) -> [Frame] {
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
    for case .transmit(link, let bytes) in effects { decoder.push(bytes) }
    var frames: [Frame] = []
    while let frame = try? decoder.next() { frames.append(frame) }
    return frames
  }

  var dials: [(id: DialID, addresses: [String])] {
    effects.compactMap { effect in
      if case .dial(let id, _, let addresses) = effect { return (id, addresses.map(\.text)) }
      return nil
    }
  }

  /// Whether the application is asked about an invitation.
  var asksAboutInvitation: Bool { events.contains { if case .invitationReceived = $0 { true } else { false } } }

  var introduced: [IntroducedNode] {
    events.compactMap { if case .introductionReceived(let introduced) = $0 { introduced } else { nil } }
  }

  var introductionEnds: [Ending] {
    events.compactMap { if case .introductionEnded(_, let ending) = $0 { ending } else { nil } }
  }

  func failure(of command: UInt64) -> Ending? {
    if case .failed(let ending)? = replies(to: command).first { ending } else { nil }
  }
}

extension [Frame] {
  /// The answers to introductions: their reasons; nil for a yes.
  var answers: [Reason?] {
    compactMap { frame in
      switch frame {
      case .introduced: .some(nil)
      case .introductionFailed(_, let reason, _): .some(reason)
      default: nil
      }
    }
  }

  var invites: Int { count { if case .invite = $0 { true } else { false } } }
}

/// An engine, and members of it that introduce nodes to it.
final class IntroducedEngine {
  let one: OneSided
  var side: Side { one.side }
  /// Members, in the order in which they came.
  private(set) var members: [PlayedNode] = []
  private var nextLink: UInt64 = 1_000

  /// - Parameters:
  ///   - isSmaller: whether the engine has the smaller id than the nodes from 10 on.
  ///   - host: from where its links come.
  init(
    members count: UInt8 = 1, from host: String = "192.0.2.1", _ change: (inout EngineConfiguration) -> Void = { _ in }
  ) {
    one = OneSided(
      configuration {
        // The played nodes answer no pings.
        $0.disconnectTimeout = .seconds(86_400)
        change(&$0)
      })
    one.traits.remoteAddress = "\(host):50123"
    for byte in 1...max(1, count) where byte <= count { members.append(played(node(byte)).connect()) }
    one.side.forgetLog()
  }

  var introducer: PlayedNode { members[0] }
  // What the engine holds, taken out of it, since no expectation can look into a value that can't be copied.
  var introductions: Introductions { side.engine.turn.introduced.entries }
  var introducing: OutgoingIntroductions { side.engine.introducer.introducing }
  var expectsPeers: Bool { side.engine.expectsPeers }

  func played(_ node: NodeID) -> PlayedNode {
    nextLink += 100
    return PlayedNode(one, node, link: nextLink)
  }

  @discardableResult
  func answer(_ subject: NodeID, accept: Bool = true, id: UInt64 = 77) -> Outcome {
    side.command(.answerIntroduction(subject, accept: accept, .declined), id: id)
  }

  /// A node is introduced and wanted.
  @discardableResult
  func accept(
    _ subject: NodeID, by introducer: PlayedNode? = nil, timeout: UInt64 = 30_000,
    at addresses: [HostAddress] = [somewhere]
  ) -> Outcome {
    var outcome = (introducer ?? self.introducer).introduces(subject, timeout: timeout, at: addresses)
    outcome += answer(subject)
    return outcome
  }

  /// Lets time pass, and every dial fail at once.
  @discardableResult
  func waitWithFailures(_ duration: Duration, first: Outcome = Outcome()) -> Outcome {
    var all = first
    var new = first
    let end = side.now + duration
    while true {
      var next = Outcome()
      for dial in new.dials { next += side.take(.dialFailed(dial.id, LinkFailure(.refused))) }
      if next.dials.isEmpty {
        guard side.now < end else { return all }
        next += side.wait(.milliseconds(50))
      }
      all += next
      new = next
    }
  }
}
