import PiconetWire

@testable import PiconetEngine

/// Values of every kind that a trace holds, drawn from a seed. A new case of an enumeration belongs in its list here.
struct TraceSamples {
  var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  mutating func number() -> UInt64 { random.next() >> (random.next() % 64) }
  mutating func count() -> Int { Int(random.next() % UInt64(Int.traceLimit)) }
  mutating func isTrue() -> Bool { random.next() % 2 == 0 }
  mutating func pick<Value>(_ values: [Value]) -> Value { values[Int(random.next() % UInt64(values.count))] }
  mutating func bytes() -> [UInt8] { (0..<(random.next() % 40)).map { _ in UInt8(truncatingIfNeeded: random.next()) } }
  mutating func text() -> String { pick(["", "a", "Living room", "Küche 🏠", "\u{0}\n", "192.0.2.7:4000"]) }
  mutating func optional<Value>(_ value: Value) -> Value? { isTrue() ? value : nil }
  mutating func instant() -> Instant { Instant(nanoseconds: number()) }
  mutating func duration() -> Duration { pick([.zero, .milliseconds(7), .seconds(20), .seconds(-1), .nanoseconds(1)]) }

  mutating func peer() -> PeerID {
    PeerID(bytes: (0..<32).map { _ in UInt8(truncatingIfNeeded: random.next()) })!
  }
  mutating func node() -> NodeID { NodeID(peer: peer(), incarnation: Incarnation(rawValue: number())) }
  mutating func link() -> LinkID { LinkID(rawValue: number()) }
  mutating func dial() -> DialID { DialID(rawValue: number()) }
  mutating func command() -> CommandID { CommandID(rawValue: number()) }
  mutating func transfer() -> TransferID { TransferID(rawValue: number()) }
  mutating func stream() -> StreamID { StreamID(rawValue: number()) }
  mutating func reason() -> Reason { Reason(rawValue: UInt16(truncatingIfNeeded: number())) }
  mutating func digest() -> ResourceDigest { ResourceDigest(sha256: peer().bytes)! }
  mutating func ending() -> Ending {
    Ending(
      reason(), pick(Blame.allCases), text(),
      failures: pick([[], [TransportFailure(pick(TransportKind.allCases), failure())]]), by: optional(node()))
  }
  mutating func address() -> TransportAddress { TransportAddress(kind: pick(TransportKind.allCases), text: text()) }
  mutating func addresses() -> [TransportAddress] { (0..<(random.next() % 4)).map { _ in address() } }
  mutating func info() -> [String: String] { pick([[:], ["a": "b"], ["a": "", "": "c", "z": "ü"]]) }
  mutating func failure() -> LinkFailure { LinkFailure(pick(LinkFailure.Code.allCases), text()) }

  mutating func traits() -> LinkTraits {
    var traits = LinkTraits(
      kind: pick(TransportKind.allCases), remoteAddress: text(), localAddress: text(), isPacket: isTrue(),
      largestWrite: pick([.max, 672, count()]), transmitWindow: optional(count()), unreadLimit: optional(count()))
    if isTrue() { traits.relays = [node(), node()] }
    traits.relayCount = count()
    return traits
  }

  mutating func tunnel() -> TunnelID { TunnelID(rawValue: number()) }
  mutating func route() -> TunnelRoute { TunnelRoute(remote: node(), relays: [node()], relayCount: count()) }
  mutating func offer() -> ResourceOffer {
    ResourceOffer(
      name: bytes(), size: number(), mediaType: text(),
      modified: optional(ResourceTime(nanosecondsSince1970: Int64(bitPattern: number()))),
      metadata: bytes(), identity: bytes(), folder: bytes(), group: bytes())
  }
  mutating func proven() -> ProvenPeer {
    var peer = ProvenPeer(
      node: node(), name: text(), traits: traits(), association: AssociationID(high: number(), low: number()),
      code: optional(text()), isKnown: isTrue(), messageLimit: count(),
      unreliableLimit: count())
    peer.isProven = isTrue()
    peer.invitationContext = optional(bytes())
    peer.greeting = bytes()
    peer.introducedBy = optional(node())
    return peer
  }
  mutating func summary() -> PeerSummary {
    PeerSummary(
      node: node(), name: text(), info: info(), addresses: addresses(), otherNames: [text(), text()],
      otherKinds: pick([[], [pick(TransportKind.allCases)]]))
  }
  mutating func linkEnds() -> [LinkEnd] {
    [
      .ended, .failed(failure()),
      .insecure(SecureChannelFailure(pick(SecureChannelFailure.Code.allCases), text())),
    ]
  }
  mutating func judgements() -> [TrustJudgement] {
    [.known, .new, .ask, .refused(reason(), detail: text(), told: text())]
  }
  mutating func reports() -> [DiscoveryReport] {
    var sighting = Sighting(
      peer: peer(), incarnation: Incarnation(rawValue: number()), name: text(), info: info(),
      addresses: addresses(), otherNames: [text(), text()])
    for address in sighting.addresses { sighting.origins[address] = "by \(text())" }
    return [
      .seen(sighting),
      .gone(peer(), Incarnation(rawValue: number())),
    ]
  }
  mutating func targets() -> [InvitationTarget] {
    [
      .node(node()), .node(node(), over: [pick(TransportKind.allCases)]),
      .addresses(addresses(), expected: optional(peer())),
    ]
  }

  mutating func conditions() -> [PeerCondition] {
    [.available, .unavailable, .connecting, .connected, .suspended, .disconnected(ending())]
  }

  mutating func commands() -> [Command] {
    [
      .invite(pick(targets()), context: bytes(), timeout: duration()), .cancelInvitation(command()),
      .answerInvitation(node(), accept: isTrue(), reason()), .confirm(node(), isTrue(), reason()),
      .leave(node(), reason()), .offer(transfer(), to: node(), offer()), .acceptOffer(transfer(), offset: number()),
      .declineOffer(transfer(), reason(), detail: text()), .cancelTransfer(transfer(), reason()), .shutDown,
      .ping(node(), timeout: duration()), .cancelPing(command()), .remove(node()), .pauseTransfer(transfer(), isTrue()),
      .tellCompared(transfer(), byteCount: number()),
      .setDisconnectTimeout(duration()), .setName(text()), .showCode(node()),
      .expect(peer(), for: duration()), .stopExpecting(peer()),
      .introduce(node(), to: node(), timeout: duration()), .cancelIntroduction(command()),
      .answerIntroduction(node(), accept: isTrue(), reason()),
      .compareCodes(node(), timeout: duration()), .cancelComparison(command()),
      .answerComparison(node(), isTrue(), reason()),
      .setCode(optional(TypedCodeID(rawValue: number()))),
      .invite(pick(targets()), context: bytes(), timeout: duration(), code: TypedCodeID(rawValue: number())),
      .openStream(stream(), to: node(), name: text()), .finishStream(stream()),
      .cancelStream(stream(), reason(), detail: text()),
    ]
  }
  mutating func steps() -> [TypedCodeStep] {
    [
      .share(TypedCodeID(rawValue: number()), link()), .check(share: bytes(), confirmation: bytes()),
      .answer(TypedCodeID(rawValue: number()), link(), share: bytes()), .confirm(bytes()), .end,
    ]
  }
  mutating func findings() -> [TypedCodeFinding] {
    [
      .share(bytes()), .confirmed(bytes()), .answer(share: bytes(), confirmation: bytes()), .right, .wrong, .unfit,
      .failed(text()),
    ]
  }
  mutating func replies() -> [Reply] {
    [
      .done, .connected(node()), .stored(name: bytes(), wasAlreadyPresent: isTrue()), .failed(ending()),
      .roundTrip(duration()),
      .code(text()),
    ]
  }

  mutating func facts() -> [Fact] {
    let opening = LinkOpening(
      dial: optional(dial()), peer: peer(), traits: traits(), isAdmitted: isTrue())
    return [
      .commanded(command(), pick(commands())), .messageQueued(node(), bytes()[...], pick(DeliveryMode.allCases)),
      .messagesConsumed(node(), byteCount: count()), .discoveryReported(source: text(), pick(reports())),
      .discoveryEnded(source: text()), .dialFailed(dial(), failure(), at: optional(text())),
      .linkOpened(link(), opening),
      .received(link(), bytes()[...]), .transmitted(link(), byteCount: count()),
      .linkClosed(link(), pick(linkEnds())), .trustJudged(link(), pick(judgements())),
      .nonceDrawn(CodeID(rawValue: number()), optional(CodeNonce(bytes: bytes(), commitment: bytes()))),
      .codeDerived(CodeID(rawValue: number()), optional(text())),
      .codeProven(CodeID(rawValue: number()), pick(findings())),
      .chunksRead(transfer(), frames: bytes()[...], payloadCount: count()),
      .sourceFinished(transfer(), digest()), .sourceFailed(transfer(), reason(), detail: text()),
      .chunkStored(transfer(), upTo: number()), .committed(transfer(), name: bytes(), wasAlreadyPresent: isTrue()),
      .storeRestarted(transfer(), offset: number()),
      .storeFailed(transfer(), reason(), detail: text()), .deadlineReached,
      .linkPaced(link(), BulkPace(room: count(), bound: count())),
      .streamWritten(stream(), bytes()[...]), .streamConsumed(stream(), byteCount: count()),
      .availabilityChanged(isTrue()),
      .listeningChanged([ListeningPort(transport: 1, port: UInt16(truncatingIfNeeded: number()))]),
      .tunnelWanted(tunnel(), over: node(), to: node()), .tunnelWritten(tunnel(), bytes()[...]),
      .tunnelConsumed(tunnel(), byteCount: count()), .tunnelClosed(tunnel(), isAborted: isTrue()),
      .forgiven(text()),
    ]
  }
  mutating func events() -> [Event] {
    [
      .peerFound(summary()), .peerChanged(summary()), .peerLost(node()),
      .invitationReceived(proven(), context: bytes(), expires: instant(), comparesCodes: isTrue()),
      .invitationEnded(node(), ending()),
      .confirmationNeeded(proven(), code: text()), .codeShown(command(), proven(), code: text()),
      .codeFailed(proven(), TypedCodeID(rawValue: number()), left: count(), ending()),
      .comparisonNeeded(node(), code: text()), .comparisonEnded(node(), ending()), .codesCompared(node(), code: text()),
      .invitationSent(command(), proven()), .connected(proven()),
      .disconnected(node(), ending()),
      .peerRefused(node(), name: text(), traits(), ending(), suppressed: count()),
      .messagesReceived(node(), [bytes()[...], bytes()[...]], pick(DeliveryMode.allCases)),
      .offerReceived(transfer(), from: node(), offer()), .transferProgressed(transfer(), stored: number()),
      .transferAccepted(transfer(), offset: number()), .transferEnded(transfer(), optional(ending())),
      .stateChanged(node(), name: text(), pick(conditions())), .transferPaused(transfer(), isTrue()),
      .transferCompared(transfer(), byteCount: number()), .suspended(node(), ending()), .resumed(node(), traits()),
      .streamOpened(stream(), from: node(), name: text()), .streamReceived(stream(), bytes()[...]),
      .streamEnded(stream(), pick([.finished, .cancelled(ending()), .lost(ending())])),
      .streamStopped(stream(), ending()),
      .introductionReceived(IntroducedNode(node: node(), name: text(), by: node(), expires: instant())),
      .introductionEnded(node(), ending()), .membersApart(node(), node(), ending()),
      .membersTogether(node(), node(), ending()),
    ]
  }
  mutating func effects() -> [Effect] {
    [
      .dial(dial(), pick(TransportKind.allCases), addresses()), .cancelDial(dial()), .transmit(link(), bytes()[...]),
      .closeLink(link(), flush: isTrue()), .judgeTrust(link(), node(), name: text(), isDialled: isTrue()),
      .drawNonce(CodeID(rawValue: number())), .proveCode(CodeID(rawValue: number()), pick(steps())),
      .deriveCode(
        CodeID(rawValue: number()), link(),
        CodeInputs(
          inviter: peer(), invited: peer(), inviterNonce: bytes(), invitedNonce: bytes(), commitment: bytes())),
      .readChunks(transfer(), transfer: number(), offset: number(), payloadCount: count(), chunkFrameCount: count()),
      .finishSource(transfer()), .closeSource(transfer()), .storeChunk(transfer(), bytes()[...]),
      .commitStore(transfer(), size: number(), digest()), .discardStore(transfer()),
      .messagesTaken(node(), byteCount: count()), .deliver(pick(events())), .reply(command(), pick(replies())),
      .finished, .keepStore(transfer()), .streamTaken(stream(), byteCount: count()),
      .tunnelOpened(tunnel(), route()), .tunnelOffered(tunnel(), route()),
      .tunnelReceived(tunnel(), bytes()[...]), .tunnelTaken(tunnel(), byteCount: count()),
      .tunnelPassedOn(tunnel(), byteCount: count()),
      .tunnelEnded(tunnel(), optional(LinkFailure(.reset, text()))),
      .chunkRepeated(transfer(), byteCount: count()),
    ]
  }
}
