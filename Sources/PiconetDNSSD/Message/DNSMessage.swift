/// A DNS message (RFC 1035, section 4), as Multicast DNS uses it.
public struct DNSMessage: Sendable, Hashable {
  public var identifier: UInt16
  /// The flags word as it stands in the header.
  public var flags: UInt16
  public var questions: [Question]
  public var answers: [ResourceRecord]
  public var authorities: [ResourceRecord]
  public var additionals: [ResourceRecord]

  public init(
    identifier: UInt16 = 0, flags: UInt16 = 0, questions: [Question] = [], answers: [ResourceRecord] = [],
    authorities: [ResourceRecord] = [], additionals: [ResourceRecord] = []
  ) {
    self.identifier = identifier
    self.flags = flags
    self.questions = questions
    self.answers = answers
    self.authorities = authorities
    self.additionals = additionals
  }

  /// QR and AA: every response of Multicast DNS is authoritative (RFC 6762, section 18.4).
  public static let responseFlags: UInt16 = 0x8400
  public static let truncatedFlag: UInt16 = 0x0200

  public var isResponse: Bool { flags & 0x8000 != 0 }
  /// Whether more known answers follow in another message.
  public var isTruncated: Bool { flags & Self.truncatedFlag != 0 }
  /// Whether opcode and response code are zero; any other message is ignored (RFC 6762, sections 18.3 and 18.11).
  public var isStandard: Bool { flags & 0x780F == 0 }
}

/// Why bytes are not a message.
public enum MessageFailure: Error, Sendable, Hashable {
  case tooLong, truncated, tooManyRecords
  /// A label that is neither a plain label nor a pointer.
  case badLabel
  case nameTooLong
  /// A compression pointer that does not lead backwards, or too many of them.
  case badPointer
  /// The data of a record doesn't fill the length it states.
  case badRecordData
}
