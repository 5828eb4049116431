import PiconetEngine
import PiconetWire

/// The effect of each byte from the fuzzer.
extension EngineFuzz {
  func step() {
    switch input.number(below: 32) {
    case 0, 1: open(peer: input.number(below: Self.hostileCount), handshake: true)
    case 2: open(peer: input.number(below: Self.hostileCount), handshake: false)
    case 3...11: sendFrame()
    case 12, 13: sendBytes()
    case 14:
      for _ in 0..<(1 + input.number(below: 40)) { if finding == nil, !input.isAtEnd { sendFrame() } }
    case 15: if let link = pickLink() { close(link, .ended) }
    case 16: if let link = pickLink() { close(link, .failed(LinkFailure(.reset, "test"))) }
    case 17: if let link = pickLink() { links[link]?.isSlow.toggle() }
    case 18: if let link = pickLink() { tellTransmitted(link) }
    case 19, 20: wait(milliseconds: input.pick([1, 50, 400, 2_000, 9_000, 30_000, 100_000]))
    case 21...24: giveCommand()
    case 25, 26: answerDisk()
    case 27: dialEnds()
    case 28: report()
    case 29: honest.sends(input.number(below: 5_000 / 32) * 32, self)
    case 30: sendToHonestPeer(count: input.number(below: 8))
    default: flood()
    }
  }

  func pickLink() -> LinkID? {
    let ids = links.keys.sorted()
    return ids.isEmpty ? nil : ids[input.number(below: ids.count)]
  }

  private func pickNode() -> NodeID { Self.hostileNode(input.number(below: Self.hostileCount)) }

  private func pickTransfer() -> TransferID {
    let known = (sources.sorted() + stores.sorted()).filter { !honest.owns($0) }
    let number = UInt64(input.number(below: 8))
    if !known.isEmpty, number > 3 { return known[Int(number) % known.count] }
    let id = TransferID(rawValue: TransferID.firstIncoming + number)
    return honest.owns(id) ? TransferID(rawValue: TransferID.firstIncoming + 1_000) : id
  }

  // MARK: Links

  func open(peer: Int, handshake: Bool, dial: DialID? = nil) {
    guard links.count < Self.linkLimit else { return }
    let id = LinkID(rawValue: nextLink)
    nextLink += 1
    links[id] = HostileLink(id: id, peer: peer)
    let traits = LinkTraits(kind: .tcp, remoteAddress: "hostile \(peer)")
    take(.linkOpened(id, LinkOpening(dial: dial, peer: Self.hostileNode(peer).peer, traits: traits)))
    guard handshake else { return }
    let hello = hello(of: peer)
    send(.hello(hello), on: id)
    settle()
    let association = AssociationID(high: UInt64(peer), low: id.rawValue)
    if Self.hostileNode(peer) < node {
      note(association)
      send(.associate(association, received: 0), on: id)
    } else {
      send(.associated(received: 0, begun: 1), on: id)
    }
    settle()
    if input.isTrue() {
      send(.invite(Invite(timeout: 30_000, commitment: Self.someNonce.commitment)), on: id)
      settle()
      command(.answerInvitation(Self.hostileNode(peer), accept: true, .declined))
      send(.admit, on: id)
      settle()
    }
  }

  func close(_ id: LinkID, _ end: LinkEnd) {
    guard links.removeValue(forKey: id) != nil else { return }
    take(.linkClosed(id, end))
  }

  private func dialEnds() {
    guard let dial = dials.popLast() else { return }
    if input.isTrue() {
      open(peer: input.number(below: Self.hostileCount), handshake: input.isTrue(), dial: dial)
    } else {
      take(
        .dialFailed(
          dial, LinkFailure(input.pick(LinkFailure.Code.allCases)), at: input.pick([nil, "hostile", "hostile/1", "x"])))
    }
  }

  // MARK: Commands and disks

  private func giveCommand() {
    switch input.number(below: 25) {
    case 0: command(.answerInvitation(pickNode(), accept: true, .declined))
    case 1: command(.answerInvitation(pickNode(), accept: false, .declined))
    case 2:
      let address = TransportAddress(kind: input.pick([.tcp, .l2cap]), text: "hostile")
      let expected = input.isTrue() ? pickNode().peer : nil
      command(
        .invite(
          .addresses([address], expected: expected), context: input.bytes(atMost: 40),
          timeout: .milliseconds(Int64(input.byte()) * 100)))
    case 3: command(.invite(.node(pickNode()), context: [], timeout: .seconds(3)))
    case 4: command(.cancelInvitation(CommandID(rawValue: UInt64(input.byte()))))
    case 5:
      let node = pickNode()
      let isSame = input.isTrue()
      command(input.isTrue() ? .answerComparison(node, isSame, .codeMismatch) : .confirm(node, isSame, .codeMismatch))
    case 6: command(.leave(pickNode(), .left))
    case 7:
      let id = TransferID(rawValue: nextTransfer)
      nextTransfer += 1
      sources.insert(id)
      let offer = ResourceOffer(name: input.bytes(atMost: 20), size: UInt64(input.byte()) * 64)
      command(.offer(id, to: pickNode(), offer))
    case 8:
      let id = pickTransfer()
      if stores.insert(id).inserted { command(.acceptOffer(id, offset: UInt64(input.byte()))) }
    case 9: command(.declineOffer(pickTransfer(), .notWanted, detail: ""))
    case 10: command(.cancelTransfer(pickTransfer(), .cancelled))
    case 11: command(.ping(pickNode(), timeout: .milliseconds(Int64(input.byte()) * 20)))
    case 17:
      let node = pickNode()
      command(input.isTrue() ? .compareCodes(node, timeout: .seconds(3)) : .showCode(node))
    case 18: command(.setCode(input.isTrue() ? TypedCodeID(rawValue: UInt64(input.byte())) : nil))
    case 19:
      let code = TypedCodeID(rawValue: UInt64(input.byte()))
      command(.invite(.node(pickNode()), context: [], timeout: .seconds(3), code: code))
    case 16: command(.cancelPing(CommandID(rawValue: UInt64(input.byte()))))
    case 15: useStream()
    case 13: command(.remove(pickNode()))
    case 14: command(.pauseTransfer(pickTransfer(), input.isTrue()))
    case 21: command(.introduce(pickNode(), to: pickNode(), timeout: .milliseconds(Int64(input.byte()) * 20)))
    case 22, 23:
      command(.answerIntroduction(Self.node(input.byte()), accept: input.isTrue(), .declined))
    case 24:
      let id = CommandID(rawValue: UInt64(input.byte()))
      command(input.isTrue() ? .cancelComparison(id) : .cancelIntroduction(id))
    case 12: take(.messagesConsumed(pickNode(), byteCount: input.number(below: 256) * 64, in: input.pick([0, 1, 63])))
    default:
      let mode: DeliveryMode = input.isTrue() ? .reliable : .unreliable
      let size = Int(input.byte()) * 16
      // As the application's budget ensures, no more than one window waits for a peer.
      let node = pickNode()
      let queued = engine.statistics(of: node, at: now)?.queuedBytes ?? 0
      guard queued + size < Self.configuration.messageWindow else { return }
      // The honest peer counts what comes in channel 0.
      let channel: MessageChannel = mode == .reliable && node != honest.node ? input.pick([0, 0, 1, 63]) : 0
      take(.messageQueued(node, [UInt8](repeating: 1, count: size)[...], mode, in: channel))
    }
  }

  /// Uses outgoing streams, and reads incoming ones.
  private func useStream() {
    let own = StreamID(rawValue: 1 + UInt64(input.number(below: 4)) % max(1, nextStream))
    switch input.number(below: 6) {
    case 0:
      let id = StreamID(rawValue: nextStream)
      nextStream += 1
      command(.openStream(id, to: pickNode(), name: "ours"))
    case 1, 2:
      let bytes = [UInt8](repeating: 3, count: 1 + Int(input.byte()) * 8)
      guard streamQueued[own, default: 0] + bytes.count <= 65_536 else { return }
      streamQueued[own, default: 0] += bytes.count
      take(.streamWritten(own, bytes[...]))
    case 3: command(.finishStream(own))
    case 4:
      let id = streamUnread.keys.sorted().first { _ in input.isTrue() } ?? own
      command(.cancelStream(id, .cancelled, detail: ""))
    default:
      guard let (id, count) = streamUnread.sorted(by: { $0.key < $1.key }).first(where: { $0.value > 0 })
      else { return }
      streamUnread[id] = 0
      take(.streamConsumed(id, byteCount: count))
    }
  }

  private func answerDisk() {
    let open = asked.indices.filter { !(Self.transfer(of: asked[$0]).map { honest.owns($0) } ?? false) }
    guard !open.isEmpty else { return }
    let effect = asked.remove(at: open[input.number(below: min(open.count, 256))])
    let fails = input.number(below: 8) == 7
    if let fact = Self.answer(to: effect, fails: fails) { take(fact) }
  }

  /// Returns the answer of a disk that succeeds, or fails.
  static func answer(to effect: Effect, fails: Bool) -> Fact? {
    switch effect {
    case .readChunks(let id, let number, let offset, let count, let frameCount):
      if fails { return .sourceFailed(id, .sourceChanged, detail: "") }
      let frames = HonestPeer.chunkFrames(number, offset: offset, count: count, frameCount: frameCount)
      return .chunksRead(id, frames: frames, payloadCount: count)
    case .finishSource(let id):
      guard !fails, let digest = ResourceDigest(sha256: [UInt8](repeating: 7, count: ResourceDigest.byteCount)) else {
        return .sourceFailed(id, .sourceChanged, detail: "")
      }
      return .sourceFinished(id, digest)
    case .storeChunk(let id, let bytes):
      return fails ? .storeFailed(id, .diskFull, detail: "") : .chunkStored(id, upTo: UInt64(bytes.count))
    case .commitStore(let id, _, _):
      return fails ? .storeFailed(id, .digestMismatch, detail: "") : .committed(id, name: [65])
    default: return nil
    }
  }

  private func report() {
    let node = Self.node(input.byte())
    let (kind, number) = (input.pick(TransportKind.allCases), input.byte() & 3)
    let sighting = Sighting(
      peer: node.peer, incarnation: node.incarnation, name: "far", info: [:],
      addresses: [TransportAddress(kind: kind, text: "far \(number)")], otherNames: number == 3 ? ["otherwise"] : [])
    switch input.number(below: 4) {
    case 0: take(.discoveryReported(source: "b", .gone(node.peer, node.incarnation)))
    case 1: take(.discoveryEnded(source: input.pick(["a", "b"])))
    default: take(.discoveryReported(source: input.pick(["a", "b"]), .seen(sighting)))
    }
  }

  // MARK: Time

  /// Lets time pass for both engines, in steps short enough for them to keep talking.
  func wait(milliseconds: Int) {
    let end = now + .milliseconds(milliseconds)
    var rounds = 0
    while finding == nil {
      let next = [engine.nextDeadline, honest.engine.nextDeadline].compactMap { $0 }.min() ?? end
      now = max(now, min(next, end))
      if let deadline = engine.nextDeadline, deadline <= now { take(.deadlineReached) }
      if let deadline = honest.engine.nextDeadline, deadline <= now { honest.take(.deadlineReached, at: now) }
      settle()
      rounds += 1
      if next >= end { break }
      if rounds > 3_000 { return broken("deadlines stay due") }
    }
    // If a later fact makes something due, it is due from then on: an invitation, for example, resumes a search whose
    // pause is over.
    if let deadline = engine.nextDeadline, deadline + .seconds(1) < now { broken("a deadline was missed") }
  }
}
