extension NodeRecord {
  /// The limits on the content of a record, in bytes of UTF-8.
  public enum Limits {
    public static let name = 63
    public static let sessionID = 128
    /// For one pair of info: key, `=` and value.
    public static let pair = 255
    /// For all info together.
    public static let info = 400
    /// For info, as a number of pairs.
    public static let pairs = 32
  }

  /// Returns a name as a record holds it: control characters are replaced, a long name is cut between characters, and
  /// an empty one becomes `?`.
  public static func name(from text: String) -> String {
    var name = ""
    for character in text {
      let shown = character.unicodeScalars.contains(where: isControl) ? "\u{FFFD}" : character
      if name.utf8.count + shown.utf8.count > Limits.name { break }
      name.append(shown)
    }
    return name.isEmpty ? "?" : name
  }

  /// The fault of the record; nil if it can be published.
  public var refusal: NodeRecordRefusal? {
    if let reason = Self.reason(against: name, limit: Limits.name) { return .badName(reason) }
    if let reason = Self.reason(against: sessionID, limit: Limits.sessionID) { return .badSessionID(reason) }
    if let adapter, adapter.rawValue == 0 { return .badAdapter }
    if let l2capPSM, l2capPSM & 0x0101 != 1 || l2capPSM < 0x1001 { return .badPSM }
    if let rfcommChannel, !(1...30).contains(rfcommChannel) { return .badChannel }
    if let lePSM, !(0x80...0xFF).contains(lePSM) { return .badLEPSM }
    if l2capPSM == nil, rfcommChannel == nil, lePSM == nil { return .noPort }
    return Self.reason(against: info).map { .badInfo($0) }
  }

  static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  private static func reason(against text: String, limit: Int) -> String? {
    if text.isEmpty { return "is empty" }
    if text.utf8.count > limit { return "has \(text.utf8.count) bytes, above \(limit)" }
    return text.unicodeScalars.contains(where: isControl) ? "has a control character" : nil
  }

  /// The rules of a TXT record's keys (RFC 6763, section 6.4), so that one advertisement suits every discovery source.
  private static func reason(against info: [String: String]) -> String? {
    if info.count > Limits.pairs { return "has \(info.count) pairs, above \(Limits.pairs)" }
    var total = 0
    var seen: Set<String> = []
    for (key, value) in info {
      if key.isEmpty || !key.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x3D }) {
        return "has a key that is not printable ASCII without ="
      }
      if !seen.insert(key.lowercased()).inserted { return "has two keys that differ in case only" }
      let count = key.utf8.count + 1 + value.utf8.count
      if count > Limits.pair { return "has a pair of \(count) bytes, above \(Limits.pair)" }
      total += count
    }
    return total > Limits.info ? "has \(total) bytes, above \(Limits.info)" : nil
  }
}
