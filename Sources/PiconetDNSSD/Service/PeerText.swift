/// The data of a node in the TXT record of its service (RFC 6763, section 6).
///
/// Keys: `v` the version, `id` the peer id, `inc` the incarnation, `n` the name, `s` the session, and `i.KEY` for every
/// pair of discovery info, so that no info can pass for one of our keys. The part of a value that does not fit into its
/// string goes into another one, `j.KEY`.
public struct PeerText: Sendable, Hashable {
  /// 32 bytes.
  public var peer: [UInt8]
  public var incarnation: UInt64
  public var name: String
  public var session: String
  public var info: [String: String]

  public init(peer: [UInt8], incarnation: UInt64, name: String, session: String, info: [String: String]) {
    self.peer = peer
    self.incarnation = incarnation
    self.name = name
    self.session = session
    self.info = info
  }

  public enum Limits {
    /// For one string of a TXT record.
    public static let string = 255
    /// For all info together: each pair's key, `=` and value.
    public static let info = 400
    public static let pairs = 32
    /// For one pair: key, `=` and value.
    public static let pair = 255
    /// For a key: a string must have room for it, `j.` before it, `=` after it, and two bytes of the value.
    public static let key = string - 5
    public static let name = 128
    public static let session = 128
    public static let peer = 32
  }

  /// A fault of the info, or of the whole text.
  public enum Failure: Error, Sendable, Hashable {
    /// A key is empty, or has `=` or something other than printable ASCII in it (RFC 6763, section 6.4).
    case badKey(String)
    case pairTooLong(String)
    case keyTooLong(String)
    /// Two keys differ only in case.
    case doubledKey(String)
    case infoTooLong
    case tooManyPairs
    case sessionTooLong
    case badPeer
  }

  /// Nil if `info` can be advertised.
  public static func failure(of info: [String: String]) -> Failure? {
    if info.count > Limits.pairs { return .tooManyPairs }
    var total = 0
    var seen: Set<[UInt8]> = []
    for (key, value) in info.sorted(by: { $0.key < $1.key }) {
      if key.isEmpty || !key.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x3D }) { return .badKey(key) }
      let count = key.utf8.count + 1 + value.utf8.count
      if count > Limits.pair { return .pairTooLong(key) }
      if key.utf8.count > Limits.key { return .keyTooLong(key) }
      if !seen.insert(lowered(Array(key.utf8))).inserted { return .doubledKey(key) }
      total += count
    }
    return total > Limits.info ? .infoTooLong : nil
  }

  /// The strings of the TXT record. The name is cut to its limit; anything else that is too long is refused.
  public func strings() throws(Failure) -> [[UInt8]] {
    if let failure = Self.failure(of: info) { throw failure }
    guard peer.count == Limits.peer else { throw .badPeer }
    guard session.utf8.count <= Limits.session else { throw .sessionTooLong }
    var digits = String(incarnation, radix: 16)
    digits = String(repeating: "0", count: 16 - digits.count) + digits
    let id = peer.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let pairs = ["v=1", "id=" + id, "inc=" + digits, "n=" + InstanceLabel.cut(name, to: Limits.name), "s=" + session]
    var strings = pairs.map { Array($0.utf8) }
    for (key, value) in info.sorted(by: { $0.key < $1.key }) {
      let whole = Array("i.\(key)=\(value)".utf8)
      strings.append(Array(whole.prefix(Limits.string)))
      if whole.count > Limits.string { strings.append(Array("j.\(key)=".utf8) + whole[Limits.string...]) }
    }
    return strings
  }

  /// Reads a TXT record of any sender. Nil if it is not Piconet's: version, id or incarnation is missing or wrong.
  ///
  /// If a key appears twice the first one counts, keys are compared ignoring case (RFC 6763, section 6.4), and strings
  /// without a key are skipped. Control characters of the name, and what is not UTF-8 in it, become U+FFFD. Info beyond
  /// the limits, or not UTF-8, is left out.
  public init?(strings: [[UInt8]]) {
    var values: [[UInt8]: [UInt8]] = [:]
    var pairs: [(key: ArraySlice<UInt8>, folded: [UInt8], value: [UInt8])] = []
    for string in strings.prefix(8 + 2 * Limits.pairs) where string.count <= Limits.string {
      let end = string.firstIndex(of: 0x3D) ?? string.endIndex
      let key = Array(string[..<end])
      guard !key.isEmpty, key.allSatisfy({ (0x20...0x7E).contains($0) }) else { continue }
      let folded = Self.lowered(key)
      guard values[folded] == nil else { continue }
      let value = end < string.endIndex ? Array(string[(end + 1)...]) : []
      values[folded] = value
      if folded.starts(with: [0x69, 0x2E]), key.count > 2 { pairs.append((key.dropFirst(2), folded, value)) }
    }
    var info: [String: String] = [:]
    var total = 0
    for (key, folded, value) in pairs where info.count < Limits.pairs {
      let whole = value + (values[[0x6A] + folded.dropFirst()] ?? [])
      let count = key.count + 1 + whole.count
      guard count <= Limits.pair, total + count <= Limits.info, let text = String(validating: whole, as: UTF8.self)
      else { continue }
      total += count
      info[String(decoding: key, as: UTF8.self)] = text
    }
    let value = { (key: String) in values[Array(key.utf8)] ?? [] }
    guard value("v") == [0x31], let peer = Self.bytes(hexadecimal: value("id")), peer.count == Limits.peer,
      let incarnation = Self.bytes(hexadecimal: value("inc")), incarnation.count == 8
    else { return nil }
    let name = InstanceLabel.displayable(String(decoding: value("n"), as: UTF8.self))
    self.init(
      peer: peer, incarnation: incarnation.reduce(0) { $0 << 8 | UInt64($1) },
      name: InstanceLabel.cut(name, to: Limits.name), session: String(decoding: value("s"), as: UTF8.self), info: info)
  }

  private static func lowered(_ bytes: [UInt8]) -> [UInt8] { bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }

  private static func bytes(hexadecimal digits: [UInt8]) -> [UInt8]? {
    guard digits.count.isMultiple(of: 2), digits.count <= 64 else { return nil }
    var result: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = Character(UnicodeScalar(digits[index])).hexDigitValue,
        let low = Character(UnicodeScalar(digits[index + 1])).hexDigitValue
      else { return nil }
      result.append(UInt8(high << 4 | low))
    }
    return result
  }
}
