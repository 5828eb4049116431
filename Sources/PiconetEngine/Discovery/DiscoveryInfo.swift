import PiconetWire

/// The rules for discovery info. Every discovery source can show whatever follows them.
///
/// The rules are those of a DNS-SD TXT record (RFC 6763, section 6): keys are printable ASCII without `=`, and must
/// differ when case is ignored. Sizes are in bytes of UTF-8.
public enum DiscoveryInfo {
  /// The maximum number of bytes of one pair: key, `=` and value.
  public static let pairLimit = 255
  /// The maximum number of bytes of all pairs together.
  public static let limit = 400
  public static let pairCount = 32
  /// The maximum number of bytes of a key. With a longer key, DNS-SD could not carry a pair of the full length.
  public static let keyLimit = 250

  /// Checks discovery info.
  /// - Throws: the first broken rule.
  public static func validate(_ info: [String: String]) throws(InvalidConfiguration) {
    var total = 0
    var seen: Set<String> = []
    for (key, value) in info.sorted(by: { $0.key < $1.key }) {
      guard !key.isEmpty, key.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x3D }) else {
        throw InvalidConfiguration(rule: "a key of the discovery info is printable ASCII without '='")
      }
      guard key.utf8.count <= keyLimit else {
        throw InvalidConfiguration(
          rule: "a key of the discovery info has at most \(keyLimit) bytes; one has \(key.utf8.count)")
      }
      guard seen.insert(key.lowercased()).inserted else {
        throw InvalidConfiguration(rule: "keys of the discovery info differ not only in case; '\(key)' comes twice")
      }
      let count = key.utf8.count + 1 + value.utf8.count
      guard count <= pairLimit else {
        throw InvalidConfiguration(
          rule: "a pair of the discovery info has at most \(pairLimit) bytes; \(key) has \(count)")
      }
      total += count
    }
    guard total <= limit else {
      throw InvalidConfiguration(rule: "the discovery info has at most \(limit) bytes; this one has \(total)")
    }
    guard info.count <= pairCount else {
      throw InvalidConfiguration(rule: "the discovery info has at most \(pairCount) pairs; this one has \(info.count)")
    }
  }
}
