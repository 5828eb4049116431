import PiconetWire

/// What the golden vectors of the document stand for.
enum GoldenFrames {
  static func bytes(_ range: ClosedRange<UInt8>) -> [UInt8] { Array(range) }
  static func text(_ text: String) -> Bytes { Array(text.utf8)[...] }

  /// The commitment in the document's example of a code.
  static let commitment = [UInt8](
    hexadecimal: "7aabc28fc496914b0420898caff0c2cdb1a97dbb0c791ebf153b7115be23a77c")!
  static let association = AssociationID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)
  static let member = NodeID(peer: PeerID(bytes: bytes(0x20...0x3F))!, incarnation: incarnation)
  static let incarnation = Incarnation(rawValue: 0x0123_4567_89AB_CDEF)

  /// A value in the document's example of a typed code.
  private static func typed(_ name: String) -> [UInt8] {
    let values = [
      "pA":
        "04966a1abe7446d20ea56affe87f289570f727e008a0536608fbe1f8cf35819f3367c47ceacea2c72d9cd9068b5cb13a38ec94a417b2dff929d7076bae0a22841a",
      "pB":
        "04a71770490aa8c7155ce60d96226322669e1b915520f592491d624487a7b436015b1c47a7cfaaee684dcf3f16836f6fd7879d1711e832adad7e1e475d50cb7b5d",
      "cA": "0b6e1022fb69a9f1c3f9b0ac54b1e66f32674a0f54153428df15095049d41a2e",
      "cB": "3782d620b99e85543aad3b7d02940e919ebfbc98d836fc05b6a5d060e9d3fc0d",
    ]
    return values[name].flatMap { [UInt8](hexadecimal: $0) } ?? []
  }

  /// Frames whose only encoding is the vector.
  static let exact: [String: Frame] = [
    "hello-dialler": .hello(
      Hello(
        incarnation: incarnation, name: "Zoë", sessionID: "photos", capabilities: [.resume, .streams],
        limits: PeerLimits(
          message: 97_280, frame: 16_381, messageWindow: 1_048_576, transfers: 64, silence: 20_000),
        associationsBegun: 2, held: HeldAssociation(id: association, received: 70))),
    "hello-acceptor": .hello(
      Hello(
        versions: 1...3, incarnation: Incarnation(rawValue: 0xFEDC_BA98_7654_3210), name: "Ada", sessionID: "photos",
        limits: PeerLimits(
          message: 65_536, frame: 8192, messageWindow: 262_144, transfers: 4, silence: 5000, streams: 4,
          streamWindow: 8192))),
    "hello-greeting": .hello(
      Hello(
        incarnation: incarnation, name: "Ada", sessionID: "photos", capabilities: [.resume, .streams],
        greeting: [0xCA, 0xFE])),
    "hello-channels": .hello(
      Hello(
        incarnation: incarnation, name: "Ada", sessionID: "photos", capabilities: [.resume, .streams],
        limits: PeerLimits(channels: 64, channelWindow: 131_072))),
    "codeNonce": .codeNonce(bytes(0x20...0x3F)),
    "codeReveal": .codeReveal(bytes(0...31)),
    "admit": .admit,
    "associate": .associate(association, received: 0),
    "associate-resumed": .associate(association, received: 16_384),
    "associated": .associated(received: 300, begun: 1),
    "close": .close(.duplicateLink, detail: "other link"),
    "close-wordless": .close(.shuttingDown, detail: ""),
    "ping": .ping(37),
    "pong": .pong(494_878_333),
    "acknowledge": .acknowledge(received: 15_293),
    "messageCredit": .messageCredit(limit: 151_288_809_941_952_652),
    "unreliableMessage": .unreliableMessage(number: 300, text("here")),
    "message-empty": .message([]),
    "message": .message(text("hello")),
    "message-of-64": .message(bytes(0...63)[...]),
    "fragment": .fragment(text("part")),
    "channelMessage-empty": .channelMessage(1, []),
    "channelMessage": .channelMessage(63, text("hello")),
    "channelFragment": .channelFragment(7, text("part")),
    "channelCredit": .channelCredit(7, limit: 131_072),
    "invite": .invite(Invite(timeout: 30_000, commitment: commitment, context: [0xCA, 0xFE])),
    "invite-compared": .invite(Invite(timeout: 0, terms: .comparesCodes, commitment: commitment)),
    "inviteByCode": .inviteByCode(InviteByCode(timeout: 30_000, share: typed("pA"), context: [0xCA, 0xFE])),
    "codeAnswer": .codeAnswer(CodeAnswer(share: typed("pB"), confirmation: typed("cB"), left: 2)),
    "codeConfirm": .codeConfirm(typed("cA")),
    "askToCompare": .comparison(.ask(timeout: 60_000, commitment: commitment)),
    "compareNonce": .comparison(.nonce(bytes(0x20...0x3F))),
    "compareReveal": .comparison(.reveal(bytes(0...31))),
    "sameCode": .comparison(.same),
    "endComparison": .comparison(.end(.codeMismatch, detail: "not the same")),
    "accept": .accept,
    "decline": .decline(.declined, detail: "not now"),
    "withdraw": .withdraw(.cancelled),
    "leave": .leave(.left, detail: "tschüß"),
    "removeMember": .removeMember(subject: member, .declined),
    "removed": .removed(by: member),
    "introduce": .introduce(
      Introduce(
        member, timeout: 30_000, name: "Ada",
        addresses: [
          HostAddress(transport: 1, host: [192, 0, 2, 7], port: 49_152),
          HostAddress(
            transport: 1, host: [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [7], port: 49_152),
          HostAddress(transport: 2, host: [0x00, 0x1B, 0xDC, 0x07, 0x32, 0xEF], port: 4_101),
        ])),
    "introduce-nowhere": .introduce(Introduce(member, timeout: 0, name: "")),
    "introduced": .introduced(member),
    "askToIntroduce": .askToIntroduce(member),
    "groupView": .groupView(
      GroupView(
        capacity: 8, smallest: 5, rank: 3, highest: 64,
        members: [0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210].map { Incarnation(rawValue: $0) })),
    "groupView-alone": .groupView(GroupView(capacity: 8, smallest: 8, rank: 0, highest: 0)),
    "introductionFailed": .introductionFailed(member, .declined, detail: "not now"),
    "withdrawIntroduction": .withdrawIntroduction(member, .cancelled),
    "tunnelCredit": .tunnelCredit(tunnel: 6, consumed: 65_536, limit: 196_608),
    "openTunnel": .openTunnel(tunnel: 6, to: member),
    "offerTunnel": .offerTunnel(tunnel: 7, from: member, relays: 1),
    "tunnelOpened": .tunnelOpened(tunnel: 6, relays: 1),
    "tunnelData": .tunnelData(tunnel: 6, text("bytes")),
    "closeTunnel": .closeTunnel(tunnel: 6, .unreachable, detail: "gone"),
    "chunk": .chunk(transfer: 5, text("bytes")),
    "chunk-long-number": .chunk(transfer: 16_383, [0]),
    "position": .position(transfer: 5, offset: 5 << 30),
    "transferCredit": .transferCredit(transfer: 5, stored: 65_536, limit: 2 << 20),
    "end": .end(
      transfer: 5, size: 3,
      ResourceDigest(
        sha256: [UInt8](hexadecimal: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")!)!),
    "offer": .offer(
      transfer: 5,
      ResourceOffer(
        name: Array("beach.jpg".utf8), size: 3_145_728, mediaType: "image/jpeg",
        modified: ResourceTime(nanosecondsSince1970: 1_700_000_000_123_456_789),
        metadata: [0xA1, 0x01, 0x02])),
    "offer-distant-time": .offer(
      transfer: 5,
      ResourceOffer(
        name: Array("a".utf8), size: 3, modified: ResourceTime(seconds: -11_644_473_600, nanoseconds: 500_000_000))),
    "offer-in-group": .offer(
      transfer: 5,
      ResourceOffer(
        name: Array("a.HEIC".utf8), size: 3,
        group: [5] + Array(".HEIC".utf8) + [3] + Array(0..<16) + [4] + Array(".MOV".utf8) + [7]
          + [UInt8](repeating: 0, count: 16))),
    "offer-bare": .offer(transfer: 64, ResourceOffer(name: [0xFF, 0x2F, 0x00], size: 0)),
    "acceptOffer": .acceptOffer(transfer: 5, offset: 0, limit: 2 << 20),
    "declineOffer": .declineOffer(transfer: 5, .tooLarge, detail: "more than 1 MB"),
    "stored": .stored(transfer: 5, name: Array("beach-2.jpg".utf8)),
    "present": .present(transfer: 5, name: Array("holiday/beach.jpg".utf8)),
    "restart": .restart(transfer: 5, offset: 0, limit: 2 << 20),
    "listening": .listening([
      ListeningPort(transport: 1, port: 49_152), ListeningPort(transport: 2, port: 0x1005),
      ListeningPort(transport: 3, port: 3),
    ]),
    "listening-nowhere": .listening([]),
    "comparing": .comparing(transfer: 5, compared: 64 << 20),
    "offer-in-folder": .offer(
      transfer: 5, ResourceOffer(name: Array("beach.jpg".utf8), size: 3, folder: Array("holiday/2026".utf8))),
    "abandon": .abandon(transfer: 5, .sourceChanged, detail: "beach.jpg shrank"),
    "offer-with-identity": .offer(
      transfer: 5, ResourceOffer(name: Array("a".utf8), size: 3_145_728, identity: Array("content 7".utf8))),
    "acceptOffer-from-middle": .acceptOffer(transfer: 5, offset: 1 << 20, limit: 3 << 20),
    "senderPaused": .senderPaused(transfer: 5, true),
    "senderPaused-over": .senderPaused(transfer: 5, false),
    "receiverPaused": .receiverPaused(transfer: 64, true),
    "refuse": .refuse(transfer: 5, .diskFull, detail: ""),
    "streamCredit": .streamCredit(stream: 5, limit: 2 << 20),
    "openStream": .openStream(stream: 5, name: "journal"),
    "openStream-nameless": .openStream(stream: 16_383, name: ""),
    "streamData": .streamData(stream: 5, text("bytes")),
    "endStream": .endStream(stream: 5),
    "resetStream": .resetStream(stream: 5, .cancelled, detail: "the log was rotated"),
    "stopStream": .stopStream(stream: 5, .notWanted, detail: ""),
    "streamDone": .streamDone(stream: 5),
    "unknownOptional-sequenced": .unknownOptional(type: 0xFF),
  ]

  /// Frames that we read but would write differently: parts are left out, or unknown to us.
  static let readOnly: [String: Frame] = [
    "hello-least": .hello(Hello(incarnation: incarnation, name: "Ada", sessionID: "photos")),
    "hello-unknown-parameter": .hello(Hello(incarnation: incarnation, name: "Ada", sessionID: "photos")),
    "hello-other-version": .hello(
      Hello(versions: 2...3, incarnation: Incarnation(rawValue: 0), name: "", sessionID: "")),
    "unknownOptional": .unknownOptional(type: 0xA0),
  ]
}
