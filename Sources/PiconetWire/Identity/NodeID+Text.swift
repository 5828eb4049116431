extension NodeID {
  /// The complete id as text, for files and other programs: the fingerprint's 64 hexadecimal digits, a slash, and the
  /// incarnation's 16. `description` has only the first twelve of the fingerprint.
  public var text: String { "\(peer)/\(incarnation)" }

  /// Reads the output of `text`, in upper or lower case; nil for any other text.
  public init?(text: some StringProtocol) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let peer = PeerID(hexadecimal: parts[0]), parts[1].utf8.count == 16,
      parts[1].utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
      let incarnation = UInt64(parts[1], radix: 16)
    else { return nil }
    self.init(peer: peer, incarnation: Incarnation(rawValue: incarnation))
  }
}

/// Encoded as its `text`.
extension NodeID: Codable {
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let node = NodeID(text: text) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath,
          debugDescription: "a node's id is 64 hexadecimal digits, a slash, and 16 hexadecimal digits"))
    }
    self = node
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
