import PiconetWire

/// SplitMix64: the same seed gives the same frames on every machine.
struct SeededDice: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}

/// Draws legal frames, with a preference for sizes at the limits.
struct RandomFrames {
  var dice: SeededDice

  init(seed: UInt64) { dice = SeededDice(seed: seed) }

  mutating func integer() -> UInt64 {
    dice.next() >> UInt64.random(in: 2...63, using: &dice)
  }

  mutating func transfer() -> UInt64 { UInt64.random(in: 0..<WireLimits.transferNumbers, using: &dice) }

  mutating func stream() -> UInt64 { UInt64.random(in: 0..<WireLimits.streamNumbers, using: &dice) }

  mutating func bytes(_ range: ClosedRange<Int>) -> [UInt8] {
    let edges = [0, 1, 62, 63, 64, 65, 300].filter(range.contains)
    let count = edges.randomElement(using: &dice) ?? range.lowerBound
    let size = Bool.random(using: &dice) ? count : Int.random(in: range, using: &dice)
    return (0..<size).map { _ in UInt8.random(in: 0...255, using: &dice) }
  }

  mutating func text(_ limit: Int) -> String {
    let alphabet: [Character] = ["a", "Z", "0", " ", "/", "é", "ß", "€", "🙂", "\u{0}", "\n"]
    let count = Int.random(in: 0...limit / 4, using: &dice)
    return String((0..<count).map { _ in alphabet.randomElement(using: &dice) ?? "a" })
  }

  mutating func reason() -> Reason { Reason(rawValue: UInt16.random(in: 0...UInt16.max, using: &dice)) }

  mutating func offsets() -> (UInt64, UInt64) {
    let (one, other) = (integer(), integer())
    return (min(one, other), max(one, other))
  }

  mutating func association() -> AssociationID { AssociationID(high: dice.next(), low: dice.next()) }

  mutating func member() -> NodeID {
    NodeID(peer: PeerID(bytes: bytes(32...32))!, incarnation: Incarnation(rawValue: dice.next()))
  }

  mutating func hello() -> Hello {
    Hello(
      versions: 1...UInt8.random(in: 1...255, using: &dice), incarnation: Incarnation(rawValue: dice.next()),
      name: text(WireLimits.name), sessionID: text(WireLimits.sessionID),
      capabilities: Capabilities(rawValue: integer()),
      limits: PeerLimits(
        message: integer(),
        frame: UInt64.random(in: UInt64(WireLimits.smallestFrame)...UInt64(WireLimits.largestFrame), using: &dice),
        messageWindow: integer(), transfers: integer(), silence: UInt64.random(in: WireLimits.silence, using: &dice),
        streams: integer(), streamWindow: integer(), channels: UInt64.random(in: 2...64, using: &dice),
        channelWindow: UInt64.random(in: UInt64(WireLimits.channelWindow)...UInt64(1 << 40), using: &dice)),
      associationsBegun: integer(),
      held: Bool.random(using: &dice) ? HeldAssociation(id: association(), received: integer()) : nil,
      greeting: bytes(0...WireLimits.greeting))
  }

  private mutating func channel() -> MessageChannel { MessageChannel(Int.random(in: 1...63, using: &dice))! }

  private mutating func time() -> ResourceTime? {
    let word = Int64(bitPattern: dice.next())
    return Bool.random(using: &dice)
      ? ResourceTime(nanosecondsSince1970: word)
      : ResourceTime(seconds: word, nanoseconds: UInt32.random(in: 0..<1_000_000_000, using: &dice))
  }

  mutating func offer() -> ResourceOffer {
    ResourceOffer(
      name: bytes(0...WireLimits.resourceName), size: integer(), mediaType: text(WireLimits.mediaType),
      modified: Bool.random(using: &dice) ? time() : nil,
      metadata: bytes(0...WireLimits.metadata), identity: bytes(0...WireLimits.contentIdentity),
      folder: bytes(0...WireLimits.resourceFolder), group: bytes(0...WireLimits.resourceGroup))
  }

  mutating func frame() -> Frame { frame(FrameCase.allCases.randomElement(using: &dice) ?? .message) }

  mutating func frame(_ kind: FrameCase) -> Frame {
    switch kind {
    case .hello: return .hello(hello())
    case .codeNonce: return .codeNonce(bytes(32...32))
    case .codeReveal: return .codeReveal(bytes(32...32))
    case .admit: return .admit
    case .inviteByCode:
      return .inviteByCode(
        InviteByCode(timeout: integer(), share: bytes(65...65), context: bytes(0...WireLimits.context)[...]))
    case .codeAnswer:
      return .codeAnswer(CodeAnswer(share: bytes(65...65), confirmation: bytes(32...32), left: integer()))
    case .codeConfirm: return .codeConfirm(bytes(32...32))
    case .askToCompare: return .comparison(.ask(timeout: integer(), commitment: bytes(32...32)))
    case .compareNonce: return .comparison(.nonce(bytes(32...32)))
    case .compareReveal: return .comparison(.reveal(bytes(32...32)))
    case .sameCode: return .comparison(.same)
    case .endComparison: return .comparison(.end(reason(), detail: text(WireLimits.detail)))
    case .associate: return .associate(association(), received: integer())
    case .associated: return .associated(received: integer(), begun: integer())
    case .close: return .close(reason(), detail: text(WireLimits.detail))
    case .ping: return .ping(integer())
    case .pong: return .pong(integer())
    case .acknowledge: return .acknowledge(received: integer())
    case .messageCredit: return .messageCredit(limit: integer())
    case .unreliableMessage: return .unreliableMessage(number: integer(), bytes(0...2000)[...])
    case .chunk: return .chunk(transfer: transfer(), bytes(1...2000)[...])
    case .position: return .position(transfer: transfer(), offset: integer())
    case .transferCredit:
      let (stored, limit) = offsets()
      return .transferCredit(transfer: transfer(), stored: stored, limit: limit)
    case .end:
      let digest = ResourceDigest(sha256: bytes(32...32))!
      return .end(transfer: transfer(), size: integer(), digest)
    case .message: return .message(bytes(0...2000)[...])
    case .fragment: return .fragment(bytes(1...2000)[...])
    case .channelMessage: return .channelMessage(channel(), bytes(0...2000)[...])
    case .channelFragment: return .channelFragment(channel(), bytes(1...2000)[...])
    case .channelCredit: return .channelCredit(channel(), limit: integer())
    case .invite:
      return .invite(
        Invite(
          timeout: integer(), terms: InvitationTerms(rawValue: integer()), commitment: bytes(32...32),
          context: bytes(0...WireLimits.context)[...]))
    case .accept: return .accept
    case .decline: return .decline(reason(), detail: text(WireLimits.detail))
    case .withdraw: return .withdraw(reason())
    case .leave: return .leave(reason(), detail: text(WireLimits.detail))
    case .removeMember: return .removeMember(subject: member(), reason())
    case .removed: return .removed(by: member())
    case .introduce:
      let addresses = (0..<Int.random(in: 0...WireLimits.introducedAddresses, using: &dice)).map { _ in
        HostAddress(
          transport: .random(in: 0 ... .max, using: &dice), host: bytes(0...WireLimits.introducedHost),
          port: .random(in: 1 ... .max, using: &dice))
      }
      return .introduce(
        Introduce(member(), timeout: integer(), name: text(WireLimits.name), addresses: addresses))
    case .tunnelCredit:
      let (one, other) = (integer(), integer())
      return .tunnelCredit(tunnel: transfer(), consumed: min(one, other), limit: max(one, other))
    case .openTunnel: return .openTunnel(tunnel: transfer(), to: member())
    case .offerTunnel:
      return .offerTunnel(tunnel: transfer(), from: member(), relays: .random(in: 1...WireLimits.relays, using: &dice))
    case .tunnelOpened:
      return .tunnelOpened(tunnel: transfer(), relays: .random(in: 1...WireLimits.relays, using: &dice))
    case .tunnelData: return .tunnelData(tunnel: transfer(), bytes(1...2_000)[...])
    case .closeTunnel: return .closeTunnel(tunnel: transfer(), reason(), detail: text(WireLimits.detail))
    case .askToIntroduce: return .askToIntroduce(member())
    case .groupView:
      let (one, other) = (integer(), integer())
      let members = Set((0..<Int.random(in: 0...WireLimits.groupMembers, using: &dice)).map { _ in dice.next() })
      return .groupView(
        GroupView(
          capacity: max(2, integer()), smallest: max(2, integer()), rank: min(one, other), highest: max(one, other),
          members: members.sorted().map { Incarnation(rawValue: $0) }))
    case .introduced: return .introduced(member())
    case .introductionFailed: return .introductionFailed(member(), reason(), detail: text(WireLimits.detail))
    case .withdrawIntroduction: return .withdrawIntroduction(member(), reason())
    case .offer: return .offer(transfer: transfer(), offer())
    case .acceptOffer:
      let (offset, limit) = offsets()
      return .acceptOffer(transfer: transfer(), offset: offset, limit: limit)
    case .declineOffer: return .declineOffer(transfer: transfer(), reason(), detail: text(WireLimits.detail))
    case .stored: return .stored(transfer: transfer(), name: bytes(0...WireLimits.storedPath))
    case .present: return .present(transfer: transfer(), name: bytes(0...WireLimits.storedPath))
    case .restart:
      let (offset, limit) = offsets()
      return .restart(transfer: transfer(), offset: offset, limit: limit)
    case .listening:
      let transports = Set((0..<WireLimits.listeningPorts).map { _ in UInt8.random(in: 0 ... .max, using: &dice) })
      return .listening(
        transports.sorted().map { ListeningPort(transport: $0, port: .random(in: 1 ... .max, using: &dice)) })
    case .comparing: return .comparing(transfer: transfer(), compared: integer())
    case .abandon: return .abandon(transfer: transfer(), reason(), detail: text(WireLimits.detail))
    case .refuse: return .refuse(transfer: transfer(), reason(), detail: text(WireLimits.detail))
    case .streamCredit: return .streamCredit(stream: stream(), limit: integer())
    case .openStream: return .openStream(stream: stream(), name: text(WireLimits.streamName))
    case .streamData: return .streamData(stream: stream(), bytes(1...2000)[...])
    case .endStream: return .endStream(stream: stream())
    case .resetStream: return .resetStream(stream: stream(), reason(), detail: text(WireLimits.detail))
    case .stopStream: return .stopStream(stream: stream(), reason(), detail: text(WireLimits.detail))
    case .streamDone: return .streamDone(stream: stream())
    case .senderPaused: return .senderPaused(transfer: transfer(), Bool.random(using: &dice))
    case .receiverPaused: return .receiverPaused(transfer: transfer(), Bool.random(using: &dice))
    case .unknownOptional: return .unknownOptional(type: UInt8.random(in: 0xA0...0xCF, using: &dice))
    }
  }
}
