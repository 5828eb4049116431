/// The first byte of a frame. Bit 7, optional: a receiver that does not know the type skips the frame; without the bit
/// it ends the link. Bit 6, sequenced: the frame counts in the association's sequence numbers and is sent again after a
/// resume.
public enum FrameType {
  public static let optionalBit: UInt8 = 0x80
  public static let sequencedBit: UInt8 = 0x40

  @inlinable public static func isOptional(_ type: UInt8) -> Bool { type & optionalBit != 0 }
  @inlinable public static func isSequenced(_ type: UInt8) -> Bool { type & sequencedBit != 0 }

  // The link.
  public static let hello: UInt8 = 0x01
  public static let associate: UInt8 = 0x03
  public static let associated: UInt8 = 0x04
  public static let close: UInt8 = 0x05
  public static let ping: UInt8 = 0x06
  public static let pong: UInt8 = 0x07

  // The association, not sequenced. Each frame restates a whole fact, so that losing one with its link does no harm, or
  // means something only on its link.
  public static let acknowledge: UInt8 = 0x08
  public static let messageCredit: UInt8 = 0x09
  public static let unreliableMessage: UInt8 = 0x0A
  public static let codeNonce: UInt8 = 0x0B
  public static let codeReveal: UInt8 = 0x0C
  public static let channelCredit: UInt8 = 0x0D
  public static let compareNonce: UInt8 = 0x0E
  public static let compareReveal: UInt8 = 0x0F
  public static let chunk: UInt8 = 0x10
  public static let position: UInt8 = 0x11
  public static let transferCredit: UInt8 = 0x12
  public static let end: UInt8 = 0x13
  public static let streamCredit: UInt8 = 0x20
  public static let tunnelCredit: UInt8 = 0x30

  // The association, not sequenced, and optional.
  public static let listening: UInt8 = 0x8E
  public static let comparing: UInt8 = 0x94

  // The association, sequenced.
  public static let message: UInt8 = 0x40
  public static let fragment: UInt8 = 0x41
  public static let invite: UInt8 = 0x42
  public static let accept: UInt8 = 0x43
  public static let decline: UInt8 = 0x44
  public static let withdraw: UInt8 = 0x45
  public static let leave: UInt8 = 0x46
  public static let admit: UInt8 = 0x47
  public static let channelMessage: UInt8 = 0x48
  public static let channelFragment: UInt8 = 0x49
  public static let inviteByCode: UInt8 = 0x4A
  public static let codeAnswer: UInt8 = 0x4B
  public static let codeConfirm: UInt8 = 0x4C
  public static let askToCompare: UInt8 = 0x4D
  public static let sameCode: UInt8 = 0x4E
  public static let endComparison: UInt8 = 0x4F
  public static let offer: UInt8 = 0x50
  public static let acceptOffer: UInt8 = 0x51
  public static let declineOffer: UInt8 = 0x52
  public static let stored: UInt8 = 0x53
  public static let abandon: UInt8 = 0x54
  public static let refuse: UInt8 = 0x55
  public static let present: UInt8 = 0x56
  public static let restart: UInt8 = 0x57
  public static let openStream: UInt8 = 0x60
  public static let streamData: UInt8 = 0x61
  public static let endStream: UInt8 = 0x62
  public static let resetStream: UInt8 = 0x63
  public static let stopStream: UInt8 = 0x64
  public static let streamDone: UInt8 = 0x65
  public static let removeMember: UInt8 = 0x70
  public static let removed: UInt8 = 0x71
  public static let introduce: UInt8 = 0x72
  public static let introduced: UInt8 = 0x73
  public static let introductionFailed: UInt8 = 0x74
  public static let withdrawIntroduction: UInt8 = 0x75
  public static let askToIntroduce: UInt8 = 0x76
  public static let groupView: UInt8 = 0x77
  public static let openTunnel: UInt8 = 0x78
  public static let offerTunnel: UInt8 = 0x79
  public static let tunnelOpened: UInt8 = 0x7A
  public static let tunnelData: UInt8 = 0x7B
  public static let closeTunnel: UInt8 = 0x7C

  // The association, sequenced and optional.
  public static let senderPaused: UInt8 = 0xD0
  public static let receiverPaused: UInt8 = 0xD1

  /// Numbers that version 1 reserves for planned extensions: more of streams, relaying. To this version they are
  /// unknown required frames.
  public static let reservedForStreams: [ClosedRange<UInt8>] = [0x21...0x2F, 0x66...0x6F]
  public static let reservedForRelay: [ClosedRange<UInt8>] = [0x31...0x37]

  /// Every type of version 1 with its name in the document, in the order of the numbers.
  public static let all: [(name: String, type: UInt8)] = [
    ("hello", hello), ("associate", associate),
    ("associated", associated), ("close", close), ("ping", ping),
    ("pong", pong), ("acknowledge", acknowledge), ("messageCredit", messageCredit),
    ("unreliableMessage", unreliableMessage), ("codeNonce", codeNonce), ("codeReveal", codeReveal),
    ("channelCredit", channelCredit), ("compareNonce", compareNonce), ("compareReveal", compareReveal),
    ("chunk", chunk),
    ("position", position),
    ("transferCredit", transferCredit), ("end", end), ("streamCredit", streamCredit),
    ("tunnelCredit", tunnelCredit),
    ("message", message), ("fragment", fragment), ("invite", invite),
    ("accept", accept), ("decline", decline), ("withdraw", withdraw),
    ("leave", leave), ("admit", admit), ("channelMessage", channelMessage), ("channelFragment", channelFragment),
    ("inviteByCode", inviteByCode),
    ("codeAnswer", codeAnswer), ("codeConfirm", codeConfirm), ("askToCompare", askToCompare), ("sameCode", sameCode),
    ("endComparison", endComparison), ("offer", offer), ("acceptOffer", acceptOffer),
    ("declineOffer", declineOffer), ("stored", stored), ("abandon", abandon),
    ("refuse", refuse), ("present", present), ("restart", restart), ("openStream", openStream),
    ("streamData", streamData),
    ("endStream", endStream), ("resetStream", resetStream), ("stopStream", stopStream),
    ("streamDone", streamDone), ("removeMember", removeMember), ("removed", removed),
    ("introduce", introduce), ("introduced", introduced), ("introductionFailed", introductionFailed),
    ("withdrawIntroduction", withdrawIntroduction), ("askToIntroduce", askToIntroduce), ("groupView", groupView),
    ("openTunnel", openTunnel),
    ("offerTunnel", offerTunnel), ("tunnelOpened", tunnelOpened), ("tunnelData", tunnelData),
    ("closeTunnel", closeTunnel), ("listening", listening),
    ("comparing", comparing),
    ("senderPaused", senderPaused), ("receiverPaused", receiverPaused),
  ]
}
