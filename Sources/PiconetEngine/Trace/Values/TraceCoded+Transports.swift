import PiconetWire

extension Ending: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(reason, blame, detail, failures, by) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> Ending {
    Ending(try reader(), try reader(), try reader(), failures: try reader(), by: try reader())
  }
}

extension TransportFailure: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(transport, failure) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> TransportFailure {
    TransportFailure(try reader(), try reader())
  }
}

extension TransportAddress: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(kind, text) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> TransportAddress {
    TransportAddress(kind: try reader(), text: try reader())
  }
}

extension LinkTraits: TraceCoded {
  func write(to bytes: inout TraceBytes) {
    bytes(
      kind, remoteAddress, localAddress, isPacket, largestWrite, transmitWindow, unreadLimit, relays,
      relayCount)
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> LinkTraits {
    var traits = LinkTraits(
      kind: try reader(), remoteAddress: try reader(), localAddress: try reader(), isPacket: try reader(),
      largestWrite: try reader(), transmitWindow: try reader(), unreadLimit: try reader())
    traits.relays = try reader()
    traits.relayCount = try reader()
    return traits
  }
}

extension LinkOpening: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(dial, peer, traits, isAdmitted) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> LinkOpening {
    LinkOpening(dial: try reader(), peer: try reader(), traits: try reader(), isAdmitted: try reader())
  }
}

extension CodeNonce: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(self.bytes, commitment) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> CodeNonce {
    CodeNonce(bytes: try reader(), commitment: try reader())
  }
}

extension CodeInputs: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(inviter, invited, inviterNonce, invitedNonce, commitment) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> CodeInputs {
    CodeInputs(
      inviter: try reader(), invited: try reader(), inviterNonce: try reader(), invitedNonce: try reader(),
      commitment: try reader())
  }
}

extension LinkFailure: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(code, detail) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> LinkFailure {
    LinkFailure(try reader(), try reader())
  }
}

extension SecureChannelFailure: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(code, detail) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> SecureChannelFailure {
    SecureChannelFailure(try reader(), try reader())
  }
}

extension LinkEnd: TraceCoded {
  private enum Tag: UInt8 { case ended, failed, insecure }

  func write(to bytes: inout TraceBytes) {
    switch self {
    case .ended: bytes(Tag.ended)
    case .failed(let failure): bytes(Tag.failed, failure)
    case .insecure(let failure): bytes(Tag.insecure, failure)
    }
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> LinkEnd {
    switch try reader.tag(Tag.self) {
    case .ended: .ended
    case .failed: .failed(try reader())
    case .insecure: .insecure(try reader())
    }
  }
}

extension TrustJudgement: TraceCoded {
  private enum Tag: UInt8 { case known, new, ask, refused }

  func write(to bytes: inout TraceBytes) {
    switch self {
    case .known: bytes(Tag.known)
    case .new: bytes(Tag.new)
    case .ask: bytes(Tag.ask)
    case .refused(let reason, let detail, let told): bytes(Tag.refused, reason, detail, told)
    }
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> TrustJudgement {
    switch try reader.tag(Tag.self) {
    case .known: .known
    case .new: .new
    case .ask: .ask
    case .refused: .refused(try reader(), detail: try reader(), told: try reader())
    }
  }
}

extension StreamEnd: TraceCoded {
  private enum Tag: UInt8 { case finished, cancelled, lost }

  func write(to bytes: inout TraceBytes) {
    switch self {
    case .finished: bytes(Tag.finished)
    case .cancelled(let ending): bytes(Tag.cancelled, ending)
    case .lost(let ending): bytes(Tag.lost, ending)
    }
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> StreamEnd {
    switch try reader.tag(Tag.self) {
    case .finished: .finished
    case .cancelled: .cancelled(try reader())
    case .lost: .lost(try reader())
    }
  }
}
