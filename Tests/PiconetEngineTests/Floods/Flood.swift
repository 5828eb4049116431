import PiconetWire
import Testing

@testable import PiconetEngine

/// An engine that is flooded with one type of frame by a remote side that acknowledges nothing.
final class Flood {
  let one: OneSided
  let configuration: EngineConfiguration
  let isMember: Bool
  private var round: UInt64 = 0
  private var link = LinkID(rawValue: 1)
  private var nextTransfer = UInt64(1)
  private var nextStream: UInt64 = 1
  private var openStreams: [UInt64] = []
  private var openOffers: [UInt64] = []
  private var outstanding = 0
  /// The most bytes that were held after any round.
  private(set) var most = 0

  /// - Parameter reads: whether the remote side takes what we send.
  init(isMember: Bool, reads: Bool, _ change: (inout EngineConfiguration) -> Void = { _ in }) {
    var configuration = EngineConfiguration(sessionID: "test", name: "a device")
    configuration.messageLimit = 4_000
    configuration.messageWindow = 8_000
    configuration.frameLimit = 1_024
    configuration.transmitWindow = 8_192
    configuration.relaying = RelayQuotas()
    configuration.comparesCodes = true
    configuration.transports = [.tcp, .relay]
    change(&configuration)
    self.configuration = configuration
    self.isMember = isMember
    one = OneSided(configuration)
    let capabilities: Capabilities = [
      .resume, .streams, .removal, .typedCodes, .introductions, .relay, .tunnels, .group, .comparisons,
    ]
    _ =
      isMember
      ? one.connected { $0.capabilities = capabilities } : one.associated { $0.capabilities = capabilities }
    if !isMember { one.side.judgement = .new }
    one.side.takesAll = reads
  }

  /// What the peer may make the engine hold.
  var bound: Int { isMember ? configuration.memberMemory : configuration.strangerMemory }
  var isOver: Bool { one.side.census.associations == 0 }
  /// What the link was closed with.
  private(set) var reason: Reason?

  /// Plays so many rounds, or fewer if the association is over.
  func run(_ type: UInt8, rounds: Int) {
    for _ in 0..<rounds where !isOver {
      application(type)
      var batch: [UInt8] = []
      for _ in 0..<50 {
        round += 1
        for frame in frames(type) { FrameEncoder.append(frame, to: &batch) }
      }
      let outcome = one.side.take(.received(link, batch[...]))
      for event in outcome.events { answer(event) }
      for frame in outcome.frames { note(frame) }
      most = max(most, one.side.census.retainedBytes)
      reason = reason ?? one.side.log.closeReason
      one.side.forgetLog()
    }
  }

  /// - Returns: by how much the most that was held has grown.
  func grows(_ type: UInt8, rounds: Int) -> Int {
    let before = most
    run(type, rounds: rounds)
    return most - before
  }

  /// Our application sends until nothing more goes.
  func fill() {
    receive(.messageCredit(limit: 1 << 40))
    var isFull = false
    while !isFull {
      let outcome = one.side.take(.messageQueued(one.far, bytes(1_000), .reliable))
      isFull = !outcome.frames.contains { if case .message = $0 { true } else { false } }
    }
    one.side.forgetLog()
  }

  /// The link is lost, and the remote side comes back on another one, of which it reads nothing.
  func resume(received: UInt64) {
    one.side.take(.linkClosed(link, .failed(LinkFailure(.reset))))
    one.side.takesAll = false
    link = LinkID(rawValue: 2)
    one.side.take(.linkOpened(link, one.opening()))
    let association = AssociationID(high: 1, low: 2)
    receive(
      one.hello {
        $0.held = HeldAssociation(id: association, received: 1); $0.capabilities = [.resume, .streams]
      })
    receive(.associate(association, received: received))
  }

  @discardableResult
  func receive(_ frames: Frame...) -> Outcome {
    one.side.take(.received(link, frames.flatMap { FrameEncoder.encode($0) }[...]))
  }

  // MARK: Our side

  /// What the application does meanwhile, so that the remote side has something to answer.
  private func application(_ type: UInt8) {
    guard isMember else { return }
    switch type {
    case FrameType.acceptOffer, FrameType.declineOffer, FrameType.stored, FrameType.refuse, FrameType.transferCredit,
      FrameType.receiverPaused:
      for _ in 0..<30 {
        nextTransfer += 1
        let outcome = one.side.command(
          .offer(TransferID(rawValue: nextTransfer), to: one.far, ResourceOffer(name: Array("x".utf8), size: 0)))
        for frame in outcome.frames { note(frame) }
        if one.side.census.transfersOutgoing > 200 { break }
      }
    case FrameType.streamCredit, FrameType.stopStream, FrameType.streamDone:
      for _ in 0..<30 {
        nextStream += 1
        let outcome = one.side.command(
          .openStream(StreamID(rawValue: nextStream), to: one.far, name: String(repeating: "n", count: 200)))
        for frame in outcome.frames { note(frame) }
      }
    default: break
    }
  }

  private func note(_ frame: Frame) {
    switch frame {
    case .offer(let transfer, _): openOffers.append(transfer)
    case .openStream(let stream, _): openStreams.append(stream)
    default: break
    }
  }

  private func answer(_ event: Event) {
    switch event {
    case .offerReceived(let id, _, let offer):
      let detail = String(repeating: "d", count: WireLimits.detail)
      one.side.command(
        offer.size == 0 ? .declineOffer(id, .notWanted, detail: detail) : .acceptOffer(id, offset: 0))
    case .streamOpened(let id, _, let name):
      if name == "stop" { one.side.command(.cancelStream(id, .notWanted, detail: "")) }
      if name == "read" { one.side.take(.streamConsumed(id, byteCount: 0)) }
    case .streamEnded(let id, .finished): one.side.take(.streamConsumed(id, byteCount: 0))
    default: break
    }
  }

  // MARK: The remote side

  /// Numbers that the remote side may choose.
  private var farTunnel: UInt64 { 2 * (round % 60) + (one.far < one.side.node ? 0 : 1) }

  /// Any of those that have frames of their own.
  private var channel: MessageChannel { MessageChannel(1 + Int(round % UInt64(MessageChannel.count - 1)))! }

  private var other: NodeID { NodeID(peer: peer(77), incarnation: Incarnation(rawValue: round)) }

  /// What the remote side says in one turn: frames of the type, and as little else as makes them legal.
  private func frames(_ type: UInt8) -> [Frame] {
    let number = round % 60
    let payload = bytes(900)
    let text = String(repeating: "t", count: WireLimits.detail)
    let open = ResourceOffer(name: Array("x".utf8), size: 1 << 40)
    switch type {
    case FrameType.hello: return [one.hello()]
    case FrameType.codeNonce: return [.codeNonce(someNonce)]
    case FrameType.codeReveal: return [.codeReveal(someNonce)]
    case FrameType.admit: return [.admit]
    case FrameType.inviteByCode:
      let share = [UInt8](repeating: 4, count: InviteByCode.shareCount)
      return [.inviteByCode(InviteByCode(timeout: 60_000, share: share, context: payload)), .withdraw(.cancelled)]
    case FrameType.codeAnswer:
      return [
        .codeAnswer(
          CodeAnswer(
            share: [UInt8](repeating: 4, count: InviteByCode.shareCount),
            confirmation: [UInt8](repeating: 1, count: InviteByCode.confirmationCount), left: round))
      ]
    case FrameType.codeConfirm: return [.codeConfirm([UInt8](repeating: 1, count: InviteByCode.confirmationCount))]
    case FrameType.askToCompare:
      return [.comparison(.ask(timeout: 60_000, commitment: someNonce)), .comparison(.end(.cancelled, detail: text))]
    case FrameType.compareNonce: return [.comparison(.nonce(someNonce))]
    case FrameType.compareReveal:
      return [.comparison(.ask(timeout: 60_000, commitment: someNonce)), .comparison(.reveal(someNonce))]
    case FrameType.sameCode: return [.comparison(.same)]
    case FrameType.endComparison: return [.comparison(.end(.cancelled, detail: text))]
    case FrameType.associate: return [.associate(AssociationID(high: 9, low: round), received: 0)]
    case FrameType.associated: return [.associated(received: 0, begun: round)]
    case FrameType.close: return [.close(.left, detail: text)]
    case FrameType.ping: return [.ping(VariableInteger.max)]
    case FrameType.pong: return [.pong(round)]
    case FrameType.acknowledge: return [.acknowledge(received: 0)]
    case FrameType.messageCredit: return [.messageCredit(limit: round)]
    case FrameType.unreliableMessage: return [.unreliableMessage(number: round, payload)]
    case FrameType.message: return [.message(bytes(0))]
    case FrameType.fragment: return [.fragment(payload)]
    case FrameType.channelCredit: return [.channelCredit(channel, limit: round)]
    case FrameType.channelMessage: return [.channelMessage(channel, bytes(0))]
    case FrameType.channelFragment: return [.channelFragment(channel, payload)]
    case FrameType.invite:
      return [.invite(Invite(timeout: 60_000, commitment: someNonce, context: payload)), .withdraw(.cancelled)]
    case FrameType.withdraw: return [.withdraw(.cancelled)]
    case FrameType.accept: return [.accept]
    case FrameType.decline: return [.decline(.declined, detail: text)]
    case FrameType.leave: return [.leave(.left, detail: text)]
    case FrameType.offer: return [.offer(transfer: number, ResourceOffer(name: Array("x".utf8), size: 0))]
    case FrameType.chunk: return round == 1 ? [.offer(transfer: 1, open)] : [.chunk(transfer: 1, payload)]
    case FrameType.position: return round == 1 ? [.offer(transfer: 1, open)] : [.position(transfer: 1, offset: 0)]
    case FrameType.end:
      return [.offer(transfer: number, open), .end(transfer: number, size: 1, someDigest)]
    case FrameType.abandon:
      return [.offer(transfer: number, open), .abandon(transfer: number, .cancelled, detail: text)]
    case FrameType.senderPaused:
      return round == 1 ? [.offer(transfer: 1, open)] : [.senderPaused(transfer: 1, round.isMultiple(of: 2))]
    case FrameType.acceptOffer: return ours { .acceptOffer(transfer: $0, offset: 0, limit: 0) }
    case FrameType.declineOffer: return ours { .declineOffer(transfer: $0, .notWanted, detail: text) }
    case FrameType.stored: return ours { .stored(transfer: $0, name: Array(text.utf8)) }
    case FrameType.present: return ours { .present(transfer: $0, name: Array(text.utf8)) }
    case FrameType.restart: return ours { .restart(transfer: $0, offset: 0, limit: 0) }
    case FrameType.listening:
      return [.listening((1...8).map { ListeningPort(transport: $0, port: UInt16(truncatingIfNeeded: round) | 1) })]
    case FrameType.comparing: return ours { .comparing(transfer: $0, compared: round) }
    case FrameType.refuse: return ours { .refuse(transfer: $0, .notWanted, detail: text) }
    case FrameType.transferCredit:
      return ours { .transferCredit(transfer: $0, stored: 0, limit: 0) }
    case FrameType.receiverPaused:
      return [.receiverPaused(transfer: openOffers.last ?? 0, round.isMultiple(of: 2))]
    case FrameType.openStream: return [.openStream(stream: round, name: text)]
    case FrameType.streamData:
      return round == 1 ? [.openStream(stream: 1, name: "")] : [.streamData(stream: 1, bytes(1))]
    case FrameType.endStream: return [.openStream(stream: number, name: "read"), .endStream(stream: number)]
    case FrameType.resetStream:
      return [.openStream(stream: number, name: text), .resetStream(stream: number, .cancelled, detail: text)]
    case FrameType.streamCredit: return [.streamCredit(stream: openStreams.last ?? 0, limit: round)]
    case FrameType.stopStream: return takeStream { .stopStream(stream: $0, .notWanted, detail: text) }
    case FrameType.streamDone: return takeStream { .streamDone(stream: $0) }
    case FrameType.removeMember: return [.removeMember(subject: other, .removed)]
    case FrameType.removed: return [.removed(by: other)]
    case FrameType.introduce:
      let subject = NodeID(peer: peer(UInt8(truncatingIfNeeded: 10 + round % 200)), incarnation: other.incarnation)
      let address = HostAddress(transport: 1, host: [10, 0, 0, 7], port: 7)
      return [
        .introduce(Introduce(subject, timeout: 60_000, name: text, addresses: [address])),
        .withdrawIntroduction(subject, .cancelled),
      ]
    case FrameType.openTunnel: return [.openTunnel(tunnel: farTunnel, to: other)]
    case FrameType.offerTunnel: return [.offerTunnel(tunnel: farTunnel, from: other, relays: 1)]
    case FrameType.tunnelOpened: return [.tunnelOpened(tunnel: 0, relays: 1)]
    case FrameType.tunnelData:
      return round == 1
        ? [.offerTunnel(tunnel: farTunnel, from: other, relays: 1)]
        : [.tunnelData(tunnel: 1 - farTunnel % 2, payload)]
    case FrameType.tunnelCredit: return [.tunnelCredit(tunnel: farTunnel, consumed: 0, limit: round)]
    case FrameType.closeTunnel:
      return [
        .offerTunnel(tunnel: farTunnel, from: other, relays: 1), .closeTunnel(tunnel: farTunnel, .left, detail: text),
      ]
    case FrameType.askToIntroduce: return [.askToIntroduce(other)]
    case FrameType.groupView:
      let members = round.isMultiple(of: 2) ? [Incarnation(rawValue: round)] : []
      return [.groupView(GroupView(capacity: 8, smallest: 8, rank: 1, highest: 1, members: members))]
    case FrameType.introduced: return [.introduced(other)]
    case FrameType.introductionFailed: return [.introductionFailed(other, .declined, detail: text)]
    case FrameType.withdrawIntroduction: return [.withdrawIntroduction(other, .cancelled)]
    default:
      if FrameType.all.contains(where: { $0.type == type }) { Issue.record("nothing is sent of this type") }
      return [.unknownOptional(type: type)]
    }
  }

  /// A frame about one of our transfers; a peer that is no member invents one.
  private func ours(_ answer: (UInt64) -> Frame) -> [Frame] {
    if !isMember { return [answer(0)] }
    return openOffers.popLast().map { [answer($0)] } ?? []
  }

  private func takeStream(_ answer: (UInt64) -> Frame) -> [Frame] {
    if !isMember { return [answer(0)] }
    return openStreams.popLast().map { [answer($0)] } ?? []
  }
}
