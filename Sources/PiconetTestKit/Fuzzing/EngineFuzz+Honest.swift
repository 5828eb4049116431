import PiconetEngine
import PiconetWire

/// The engine's exchange with the honest peer.
extension EngineFuzz {
  func connectHonestPeer() {
    func opening(_ remote: NodeID, dial: DialID?) -> LinkOpening {
      LinkOpening(
        dial: dial, peer: remote.peer, traits: LinkTraits(kind: .tcp, remoteAddress: "honest"))
    }
    let invite = Command.invite(
      .addresses([TransportAddress(kind: .tcp, text: "honest")], expected: node.peer), context: [],
      timeout: .seconds(30))
    honest.take(.commanded(CommandID(rawValue: 1), invite), at: now)
    let dial = honest.effects.lazy.compactMap { effect -> DialID? in
      if case .dial(let dial, _, _) = effect { return dial }
      return nil
    }.first
    honest.effects = []
    honest.take(.linkOpened(HonestPeer.link, opening(node, dial: dial)), at: now)
    take(.linkOpened(HonestPeer.link, opening(honest.node, dial: nil)))
    settle()
    command(.answerInvitation(honest.node, accept: true, .declined))
    settle()
    // Each side sends a file, which is not read or written before the end.
    honest.take(
      .commanded(
        CommandID(rawValue: 2),
        .offer(HonestPeer.outgoing, to: node, ResourceOffer(name: [1], size: HonestPeer.fileSize))), at: now)
    settle()
    if let incoming = honest.incomingThere {
      stores.insert(incoming)
      command(.acceptOffer(incoming, offset: 0))
    }
    sources.insert(HonestPeer.outgoing)
    pending.insert(HonestPeer.offerCommand)
    take(
      .commanded(
        HonestPeer.offerCommand,
        .offer(HonestPeer.outgoing, to: honest.node, ResourceOffer(name: [2], size: HonestPeer.fileSize))))
    settle()
  }

  /// Performs the effects of the honest engine, and delivers the bytes on their way to it.
  func exchangeWithHonestPeer() {
    var rounds = 0
    while !honest.arriving.isEmpty || !honest.effects.isEmpty, finding == nil {
      rounds += 1
      if rounds > 500 { return broken("the honest peer does not come to rest") }
      let arriving = honest.arriving
      honest.arriving = []
      for bytes in arriving { honest.take(.received(HonestPeer.link, bytes), at: now) }
      let effects = honest.effects
      honest.effects = []
      for effect in effects { performForHonestPeer(effect) }
    }
  }

  private func performForHonestPeer(_ effect: Effect) {
    switch effect {
    case .transmit(let link, let bytes):
      honest.take(.transmitted(link, byteCount: bytes.count), at: now)
      take(.received(HonestPeer.link, bytes))
      var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
      decoder.push(bytes)
      while let frame = try? decoder.next() {
        if case .associate(let id, _) = frame { note(id) }
      }
    case .closeLink:
      if !isEnding { broken("the honest peer closes its link") } else { take(.linkClosed(HonestPeer.link, .ended)) }
    case .judgeTrust(let link, _, _, _): honest.take(.trustJudged(link, .known), at: now)
    case .drawNonce(let id): honest.take(.nonceDrawn(id, Self.someNonce), at: now)
    case .deriveCode(let id, _, _): honest.take(.codeDerived(id, "123456"), at: now)
    case .readChunks, .finishSource: if let fact = Self.answer(to: effect, fails: false) { honest.take(fact, at: now) }
    case .storeChunk(let id, let bytes):
      honest.storedLocally.append(bytes)
      honest.take(.chunkStored(id, upTo: UInt64(honest.storedLocally.count)), at: now)
    case .commitStore(let id, _, _):
      honest.isStoredLocally = true
      honest.take(.committed(id, name: [66]), at: now)
    case .deliver(.connected): honest.isMember = true
    case .deliver(.disconnected(_, let ending)): if !isEnding { broken("the honest peer is told: \(ending)") }
    case .deliver(.messagesReceived(_, let messages, _, _)):
      for message in messages {
        if HonestPeer.number(of: message) != honest.gotBack { broken("message \(honest.gotBack) to the honest peer") }
        honest.gotBack += 1
        let cost = message.count + WireLimits.messageCost
        honest.take(.messagesConsumed(node, byteCount: cost), at: now)
      }
    case .deliver(.offerReceived(let id, _, _)):
      honest.take(.commanded(CommandID(rawValue: 3), .acceptOffer(id, offset: 0)), at: now)
    default: break
    }
  }

  func sendToHonestPeer(count: Int) {
    for _ in 0..<count {
      let queued = engine.statistics(of: honest.node, at: now)?.queuedBytes ?? 0
      guard queued < Self.configuration.messageWindow / 2 else { return }
      take(.messageQueued(honest.node, HonestPeer.message(honest.sentBack, size: 100), .reliable))
      honest.sentBack += 1
    }
  }

  /// Completes everything that the honest peer has begun, now that no hostile peer interferes.
  func finishHonestPeer() {
    for _ in 0..<200 where finding == nil && honest.verdict != nil {
      serveHonestPeer()
      settle()
      if honest.verdict != nil { wait(milliseconds: 10) }
    }
    if let wrong = honest.verdict { broken(wrong) }
  }

  /// Answers for the disks in the honest peer's transfers, and takes its messages as the application.
  func serveHonestPeer() {
    if honest.unconsumed > 0 {
      take(.messagesConsumed(honest.node, byteCount: honest.unconsumed))
      honest.unconsumed = 0
    }
    while let index = asked.firstIndex(where: { Self.transfer(of: $0).map { honest.owns($0) } ?? false }) {
      let effect = asked.remove(at: index)
      switch effect {
      case .storeChunk(let id, let bytes):
        honest.storedRemotely.append(bytes)
        take(.chunkStored(id, upTo: UInt64(honest.storedRemotely.count)))
      case .commitStore(let id, _, _):
        honest.isStoredRemotely = true
        take(.committed(id, name: [67]))
      default: if let fact = Self.answer(to: effect, fails: false) { take(fact) }
      }
    }
  }
}

extension HonestPeer {
  /// Sends a message to the engine, unless its own queue is full.
  func sends(_ size: Int, _ fuzz: EngineFuzz) {
    let queued = engine.statistics(of: fuzz.node, at: fuzz.now)?.queuedBytes ?? 0
    guard queued < EngineFuzz.configuration.messageWindow / 2 else { return }
    let size = min(max(2, size), EngineFuzz.configuration.messageLimit)
    take(.messageQueued(fuzz.node, Self.message(sent, size: size), .reliable), at: fuzz.now)
    sent += 1
  }
}
