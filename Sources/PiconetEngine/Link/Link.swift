import PiconetWire

/// One secured link: its handshake, the frames that are legal on it, its liveness, and the bytes that wait to be
/// transmitted. Only its engine has it. It is an object, because copying it for each access would cost more than the
/// message that it carries.
///
/// Fields on the path of every message skip the exclusivity check, for the reason given at `Association`.
final class Link {
  /// The state of the link. The dialling side speaks first.
  enum Phase: Equatable, Sendable {
    /// The remote side's hello has not come yet.
    case awaitingHello
    /// We don't know yet whether the node may connect, or the driver is judging whether it is trusted. Nothing is
    /// decoded meanwhile.
    case awaitingTrust
    /// The handshake is complete; the node with the smaller id decides whether this link is used.
    case ready
    /// An association is to resume here. We have sent `associate` with its id, and the remote side's answer has not
    /// come yet.
    case resuming
    /// The active link of the association with its node.
    case active
  }

  let id: LinkID
  let opening: LinkOpening
  let openedAt: Instant
  private(set) var phase: Phase = .awaitingHello { didSet { watch.changed() } }
  @exclusivity(unchecked) private var decoder: FrameDecoder

  /// The remote side, once its hello has come.
  private(set) var node: NodeID?
  private(set) var hello: Hello?
  private(set) var judgement: TrustJudgement?

  private(set) var lastReceived: Instant
  private var lastSent: Instant
  /// When the last unanswered ping was sent.
  private var pingedAt: Instant?
  private let handshakeEnds: Instant
  /// The disconnect timeout of the engine, which determines the longest silence.
  private var disconnectTimeout: Duration { didSet { watch.changed() } }
  /// Told of changes to what `nextDeadline` depends on, except for traffic, which only delays it.
  private let watch: DeadlineWatch

  /// Pings that wait for their answers.
  var pings = PingTable() { didSet { if pings.nextDeadline != oldValue.nextDeadline { watch.changed() } } }

  /// The association whose active link this is.
  @exclusivity(unchecked) private(set) var association: Association? { didSet { watch.changed() } }
  /// Whether any bytes of the association have gone over this link.
  private(set) var hasCarried = false
  /// The member for whose association we have dialled this link; nil if we dialled it for an invitation.
  private(set) var searchedFor: NodeID?
  /// Set while the remote side wants to continue over this link and the active one is asked for a sign of life.
  private(set) var probe: Probe? { didSet { watch.changed() } }

  struct Probe {
    let token: UInt64
    /// When this link replaces the active one, if the active one stays silent.
    let ends: Instant
  }
  /// Whether the engine has let the link go. Data that still comes from it then does not count.
  private(set) var isForgotten = false

  /// Encoded control frames, which go before everything else.
  @exclusivity(unchecked) private(set) var control: [UInt8] = []
  /// Encoded unreliable messages, which go with the next flush or not at all, and their number.
  private(set) var unreliable: [UInt8] = []
  private(set) var unreliableCount = 0
  /// Bytes handed to the driver and not yet to the kernel.
  private(set) var outstanding = 0

  /// The limit of `outstanding` for a member.
  let largestWindow: Int

  /// How much of `outstanding` may be bulk; nil if bulk has no limit of its own.
  private var bulkPace: BulkPace?
  /// The longest body of a bulk frame. It is short on a slow path, because a message waits for the rest of a frame.
  var bulkFrameLimit: Int {
    bulkPace.map { max(WireLimits.smallestFrame, $0.bound / 4) } ?? .max
  }

  var isDialler: Bool { opening.dial != nil }
  /// Whether the driver has to answer before the next frame is decoded.
  var isDecodingPaused: Bool { phase == .awaitingTrust }

  /// Limit on bytes of control frames that wait for a link that takes none. If there are more, the remote side has
  /// caused them (pings, offers).
  static let controlLimit = 256 << 10
  /// No offer is sent while more control frames than this wait. Offers are the longest of them, and the only ones of
  /// which we may have many ourselves.
  static let offerLimit = 64 << 10
  /// No ping of the application is sent while more than this waits. Frames of abandoned pings still wait, and must not
  /// count against the remote side.
  static let pingLimit = 128 << 10
  /// Bytes that may come in while decoding is paused: `associate`, an invitation and some pings, and the rest of the
  /// same read.
  static let pausedLimit = 64 << 10

  init(
    id: LinkID, opening: LinkOpening, at now: Instant, _ configuration: EngineConfiguration, _ watch: DeadlineWatch
  ) {
    self.id = id
    self.opening = opening
    self.watch = watch
    openedAt = now
    lastReceived = now
    lastSent = now
    handshakeEnds = now + configuration.handshakeTimeout
    disconnectTimeout = configuration.disconnectTimeout
    decoder = FrameDecoder(frameLimit: configuration.frameLimit)
    largestWindow = min(configuration.transmitWindow, opening.traits.transmitWindow ?? .max)
  }

  /// The association that our hello states.
  private(set) var named: AssociationID?

  /// Returns whether the frame may come in this phase. Version 1 has two stages: before and after `associate`.
  func isLegal(_ frame: Frame) -> Bool {
    switch frame {
    case .close: true
    case .hello: phase == .awaitingHello
    case .ping, .pong: phase == .ready || phase == .resuming || phase == .active
    case .associate: phase == .ready
    case .associated: phase == .resuming || phase == .active
    case .unknownOptional: phase != .awaitingHello
    case .message, .fragment, .channelMessage, .channelFragment, .unreliableMessage, .messageCredit, .channelCredit,
      .acknowledge, .listening, .invite, .accept, .decline, .withdraw, .codeNonce, .codeReveal, .admit, .inviteByCode,
      .codeAnswer, .codeConfirm, .comparison, .leave, .removeMember, .removed, .introduce, .introduced,
      .introductionFailed,
      .withdrawIntroduction, .askToIntroduce, .groupView, .openTunnel, .offerTunnel, .tunnelOpened, .closeTunnel,
      .tunnelData,
      .tunnelCredit, .offer, .acceptOffer, .declineOffer, .chunk, .position, .transferCredit, .end, .stored, .present,
      .restart, .comparing, .abandon, .refuse, .senderPaused, .receiverPaused, .openStream, .streamData, .endStream,
      .resetStream, .streamCredit, .stopStream, .streamDone:
      phase == .active
    }
  }

  // MARK: Handshake

  func sendHello(
    as node: NodeID, _ associations: AssociationTable, _ configuration: EngineConfiguration, _ turn: Turn
  ) {
    let held = associations.held(for: self)
    named = held?.id
    var capabilities: Capabilities = [.resume, .removal, .streams, .typedCodes, .introductions]
    if configuration.membership == .group { capabilities.insert(.group) }
    if configuration.relaying != nil { capabilities.insert(.relay) }
    if configuration.comparesCodes { capabilities.insert(.comparisons) }
    if configuration.transports.contains(.relay) { capabilities.insert(.tunnels) }
    let hello = Hello(
      incarnation: node.incarnation, name: configuration.name, sessionID: configuration.sessionID,
      capabilities: capabilities,
      limits: configuration.peerLimits(on: opening.traits), associationsBegun: associations.begunCount(statedOn: self),
      held: held.map { HeldAssociation(id: $0.id, received: $0.receivedCount) },
      greeting: configuration.greeting)
    queue(.hello(hello))
    turn.flush(self)
  }

  /// Takes the remote side's hello, on which everything else depends.
  /// - Returns: why the link can't be used, as a reason and in words; nil if it can be used.
  func received(_ hello: Hello, at node: NodeID, _ sessionID: String) -> (reason: Reason, words: String)? {
    guard hello.versions.overlaps(Hello.supportedVersions) else {
      return (.version, "versions \(hello.versions) and \(Hello.supportedVersions)")
    }
    guard hello.sessionID.utf8.elementsEqual(sessionID.utf8) else { return (.wrongSession, "") }
    let remote = NodeID(peer: opening.peer, incarnation: hello.incarnation)
    guard remote != node else { return (.selfConnection, "this is our own address") }
    self.node = remote
    self.hello = hello
    return nil
  }

  /// Pauses decoding until we know whether the node may connect and is trusted.
  func awaitTrust() { phase = .awaitingTrust }

  /// Notes that the peer is trusted.
  func judged(_ judgement: TrustJudgement) {
    self.judgement = judgement
    phase = .ready
  }

  /// Notes that a search has dialled this link.
  func search(for node: NodeID) { searchedFor = node }

  /// Notes that the association begins or resumes here.
  func activate(_ association: Association) {
    phase = .active
    self.association = association
  }

  /// Notes that the first bytes of the association go out.
  func carry() { hasCarried = true }

  /// Marks the link as forgotten by the engine.
  func forget() {
    isForgotten = true
    association = nil
  }

  /// Asks the remote side to continue the association here.
  func askToResume(_ association: Association, _ turn: Turn) {
    probe = nil
    phase = .resuming
    queue(.associate(association.id, received: association.receivedCount))
    turn.flush(self)
  }

  /// Makes this link replace the active one if that one gives no sign of life.
  func waitForSign(of active: Link, until ends: Instant, _ turn: Turn) {
    probe = Probe(token: active.sendProbe(turn), ends: ends)
  }

  /// Asks the remote side for a sign of life.
  /// - Returns: the token of the answer.
  private func sendProbe(_ turn: Turn) -> UInt64 {
    let token = pings.begin(nil, at: turn.now)
    queue(.ping(token))
    turn.flush(self)
    return token
  }

  /// Notes that the active link has given no sign of life.
  func endProbe() { probe = nil }

  // MARK: Liveness

  /// Notes that bytes have come.
  func heard(_ now: Instant) {
    lastReceived = now
    pingedAt = nil
  }

  /// Restarts the time of silence, because the process has not run for a while. The silence of that time says nothing
  /// about the remote side.
  func awoke(_ turn: Turn) {
    guard phase == .active else { return }
    heard(turn.now)
    ping(turn.now)
    turn.flush(self)
  }

  /// Notes that frames go to the driver.
  func spoke(_ now: Instant) { lastSent = now }

  func setDisconnectTimeout(_ timeout: Duration) { disconnectTimeout = timeout }

  /// When something must be done if nothing happens before: the end of the handshake, a ping, or the end of the longest
  /// silence.
  var nextDeadline: Instant {
    let own =
      phase == .active
      ? min(lastReceived + patience, nextPing) : probe.map { min($0.ends, handshakeEnds) } ?? handshakeEnds
    return pings.nextDeadline.map { min($0, own) } ?? own
  }

  enum Due: Equatable {
    /// The handshake has taken too long.
    case handshake
    /// The active link has given no sign of life.
    case probe
    /// Nothing was heard for this long.
    case silence(Duration)
    case ping
  }

  /// Returns what is due now. A ping counts if it is due by `soon`; nothing else depends on that time.
  func due(at now: Instant, soon: Instant) -> Due? {
    guard phase == .active else {
      if handshakeEnds <= now { return .handshake }
      return probe.map { $0.ends <= now } == true ? .probe : nil
    }
    if lastReceived + patience <= now { return .silence(patience) }
    return nextPing <= soon ? .ping : nil
  }

  /// A due event that the engine has to act on.
  enum Expiry {
    case over(Ending)
    /// This link has waited for a sign of life of the active one, and the active one has given none.
    case silentProbe
  }

  /// Handles what is due. A ping that is due by `soon` goes out now.
  func deadlineReached(soon: Instant, _ turn: Turn) -> Expiry? {
    switch due(at: turn.now, soon: soon) {
    case .handshake: return .over(Ending(.timedOut, .peer, "the handshake was not completed in time"))
    case .probe: return .silentProbe
    case .silence(let duration):
      let seconds = duration.wholeNanoseconds / 1_000_000_000
      return .over(Ending(.timedOut, .link, "nothing was heard for \(seconds) s"))
    case .ping:
      ping(turn.now)
      turn.flush(self)
    case nil: break
    }
    return nil
  }

  /// Sends a ping of the heartbeat.
  func ping(_ now: Instant) {
    queue(.ping(pings.begin(nil, at: now)))
    pingedAt = now
    // This counts as sent even if the link can't take it now: one ping per quarter of the timeout is enough.
    lastSent = now
  }

  /// The silence after which this link counts as dead.
  private var patience: Duration {
    EngineConfiguration.silence(isDurable: association?.isDurable == true, within: disconnectTimeout)
  }

  /// When the next ping is due. The remote side must hear from us well within the silence that it states, and we must
  /// hear from it within ours.
  private var nextPing: Instant {
    let stated = hello?.limits.silence ?? PeerLimits().silence
    let legal = min(max(stated, WireLimits.silence.lowerBound), WireLimits.silence.upperBound)
    let theirs = Duration.milliseconds(Int64(clamping: legal)) / 4
    let ours = patience / 4
    let toBeHeard = lastSent + theirs
    let toHear = max(lastReceived, pingedAt ?? lastReceived) + ours
    return min(toBeHeard, toHear)
  }
}

// MARK: - Transmission

extension Link {
  func queue(_ frame: Frame) {
    association?.count(sent: frame)
    FrameEncoder.append(frame, to: &control)
  }

  /// Queues a control frame that its association has encoded and counted.
  func queue(encoded frame: [UInt8]) { control += frame }

  func answer(ping token: UInt64, _ turn: Turn) {
    queue(.pong(token))
    turn.flush(self)
  }

  /// Frames the waiting data, as far as there is room.
  func transmit(_ turn: Turn) {
    if let association { return association.transmit(on: self, turn) }
    if transmitWindow > outstanding { handOverControl(turn) }
  }

  /// Hands over all control frames, regardless of the window.
  func handOverControl(_ turn: Turn) {
    guard !control.isEmpty else { return }
    var bytes: [UInt8] = []
    takeControl(into: &bytes)
    hand(over: bytes[...], turn)
  }

  /// Ends the link in good order, after the waiting data.
  func close(_ reason: Reason, _ detail: String, _ turn: Turn) {
    // A peer that has not read the data sent so far does not get all the waiting data on top of it.
    if outstanding + control.count > transmitWindow + controlLimit { control = [] }
    queue(.close(reason, detail: detail))
    handOverControl(turn)
    turn.add(.closeLink(id, flush: true))
  }

  /// Hands whole frames to the driver.
  func hand(over frames: Bytes, _ turn: Turn) {
    spoke(turn.now)
    handOverSilently(frames, turn)
  }

  /// Hands whole frames to the driver without delaying the next ping.
  func handOverSilently(_ frames: Bytes, _ turn: Turn) {
    outstanding += frames.count
    turn.add(.transmit(id, frames))
  }

  /// Takes all control frames, which then go together with what follows them.
  func takeControl(into bytes: inout [UInt8]) {
    guard !control.isEmpty else { return }
    if bytes.isEmpty {
      swap(&bytes, &control)
    } else {
      bytes += control
      control = []
    }
  }

  /// Notes that the kernel has taken this many bytes.
  func transmitted(_ count: Int, _ turn: Turn) {
    outstanding = max(0, outstanding - count)
    association?.count(sentBytes: count)
    if waitsForRoom { turn.flush(self) }
  }

  func paced(_ pace: BulkPace, _ turn: Turn) {
    bulkPace = pace
    if waitsForRoom { turn.flush(self) }
  }

  /// Whether a flush could find something to frame. If nothing waits, more room is no reason for a flush.
  private var waitsForRoom: Bool {
    if !control.isEmpty || unreliableCount > 0 { return true }
    return association.map { !$0.waiting.isEmpty } ?? false
  }

  // MARK: Windows

  /// The maximum number of bytes that may be with the driver and not yet with the kernel. A single longer frame may
  /// exceed it.
  var transmitWindow: Int {
    // A peer that is not a member gets little ahead of what it has read.
    association?.isMember == true ? largestWindow : min(KeepingLimits.strangerControl, largestWindow)
  }

  /// The maximum number of bytes that may be with the driver and not yet with the kernel when bulk is handed over. Bulk
  /// goes after everything else, and only as much as the path carries without a noticeable delay.
  var bulkWindow: Int { min(transmitWindow, bulkPace?.room ?? .max) }

  // MARK: Unreliable messages

  /// Returns whether an unreliable message may go with the next flush. All waiting data, the message included, may be
  /// at most the window and an eighth. Bulk keeps the window full all the time, and must not block messages that
  /// overtake it. An idle link takes any message.
  func takesUnreliable(_ count: Int, window: Int) -> Bool {
    let waiting = outstanding + control.count + unreliable.count
    return waiting == 0 || waiting + count <= window + window / 8
  }

  /// Queues an unreliable message.
  /// - Returns: the bytes of its frame.
  func queueUnreliable(_ number: UInt64, _ message: Bytes) -> Int {
    let before = unreliable.count
    FrameEncoder.append(.unreliableMessage(number: number, message), to: &unreliable)
    unreliableCount += 1
    return unreliable.count - before
  }

  /// Takes the frames of all waiting unreliable messages.
  func takeUnreliable() -> [UInt8] {
    defer {
      unreliable = []
      unreliableCount = 0
    }
    return unreliable
  }
}

// MARK: - Reception

extension Link {
  /// Takes bytes that have come.
  func received(_ bytes: Bytes, _ turn: Turn) {
    heard(turn.now)
    decoder.push(bytes)
    guard let association else { return }
    association.count(receivedBytes: bytes.count)
    turn.began(reading: bytes.count)
  }

  /// Takes frames up to the first one that needs the engine, up to the last whole frame, or until the driver has to
  /// answer first.
  /// - Returns: that frame's request to the engine; nil if no frame needs it.
  func takeReceived(_ turn: Turn) throws(Breach) -> FrameRequest? {
    while let frame = try nextFrame() {
      // Messages are the most frequent frames. They skip everything that can't concern them.
      if case .message(let bytes) = frame, let association {
        try association.receivedCounted(message: bytes, turn)
      } else if let request = try take(frame, turn) {
        return request
      }
    }
    if !isForgotten { try checkLimits() }
    return nil
  }

  /// Returns the next frame; nil if no whole one is left, the link is gone, or the driver has to answer first.
  private func nextFrame() throws(Breach) -> Frame? {
    if isDecodingPaused || isForgotten { return nil }
    do throws(WireError) {
      return try decoder.next()
    } catch {
      throw Breach("\(error)")
    }
  }

  private func take(_ frame: Frame, _ turn: Turn) throws(Breach) -> FrameRequest? {
    guard isLegal(frame) else { throw atWrongTime(frame) }
    if let association {
      association.count(received: frame, turn)
      try association.countUncredited(frame, turn)
    }
    switch frame {
    case .hello(let hello): return .hello(hello)
    case .associate(let id, let received): return .associate(id, received: received)
    case .associated(let received, let begun):
      guard let association else { return .associated(received: received, begun: begun) }
      try association.receivedAssociated(begun, at: turn.node)
    case .close(let reason, let detail): return .close(reason, detail)
    case .ping(let token): answer(ping: token, turn)
    case .pong(let token): return .pong(token)
    case .unknownOptional: break

    case .message, .fragment, .channelMessage, .channelFragment, .unreliableMessage, .messageCredit, .channelCredit,
      .acknowledge, .listening, .invite, .accept, .decline, .withdraw, .codeNonce, .codeReveal, .admit, .inviteByCode,
      .codeAnswer, .codeConfirm, .comparison, .leave, .removeMember, .removed, .introduce, .introduced,
      .introductionFailed,
      .withdrawIntroduction, .askToIntroduce, .groupView, .openTunnel, .offerTunnel, .tunnelOpened, .closeTunnel,
      .tunnelData,
      .tunnelCredit, .offer, .acceptOffer, .declineOffer, .chunk, .position, .transferCredit, .end, .stored, .present,
      .restart, .comparing, .abandon, .refuse, .senderPaused, .receiverPaused, .openStream, .streamData, .endStream,
      .resetStream, .streamCredit, .stopStream, .streamDone:
      // `isLegal` has ensured that this is the active link of an association.
      guard let association else { throw atWrongTime(frame) }
      return try association.receive(frame, turn)
    }
    return nil
  }

  private func atWrongTime(_ frame: Frame) -> Breach {
    Breach("frame 0x\([frame.type].hexadecimal) at the wrong time")
  }

  /// Bytes that have come and were not decoded yet.
  var bufferedCount: Int { decoder.bufferedCount }

  /// Checks how much waits on either side of the link.
  private func checkLimits() throws(Breach) {
    if isDecodingPaused, bufferedCount > Self.pausedLimit {
      throw Breach("too many bytes during the handshake", .limitExceeded)
    }
    if control.count > controlLimit { throw Breach("asks for more answers than it takes", .limitExceeded) }
  }
}

// MARK: - For tests that flood an engine

extension Link {
  var retainedBytes: Int { control.count + unreliable.count + outstanding + bufferedCount }
}
