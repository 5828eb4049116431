import PiconetEngine
import PiconetWire

/// The names under which keys were advertised within the last two minutes, as this node has seen them. A value: its
/// owner supplies the time.
struct AdvertisedNames: Sendable {
  /// As long as a DNS-SD record lives.
  static let memory = Duration.seconds(120)
  /// The number of names no longer advertised that are remembered; beyond it the oldest is forgotten. A key whose
  /// advertised names are all forgotten counts as not advertised.
  static let formerLimit = 1024
  /// The number of such names of one key: its own names make it forget no other key's.
  static let formerLimitOfKey = 8

  private struct Former {
    let peer: PeerID
    let name: String
    let until: ContinuousClock.Instant
  }

  private var current: [NodeID: Set<String>] = [:]
  private var former: [Former] = []

  /// - Parameter names: all names that it has now; the discovery bounds them (`Sighting.nameLimit`).
  mutating func seen(_ node: NodeID, as names: Set<String>, at now: ContinuousClock.Instant) {
    for name in (current[node] ?? []).subtracting(names).sorted() { keep(node.peer, name, now) }
    current[node] = names
  }

  mutating func lost(_ node: NodeID, at now: ContinuousClock.Instant) {
    for name in (current.removeValue(forKey: node) ?? []).sorted() { keep(node.peer, name, now) }
  }

  private mutating func keep(_ peer: PeerID, _ name: String, _ now: ContinuousClock.Instant) {
    former.removeAll { $0.until <= now || $0.peer == peer && $0.name == name }
    if former.count(where: { $0.peer == peer }) >= Self.formerLimitOfKey,
      let oldest = former.firstIndex(where: { $0.peer == peer })
    {
      former.remove(at: oldest)
    }
    if former.count >= Self.formerLimit { former.removeFirst() }
    former.append(Former(peer: peer, name: name, until: now + Self.memory))
  }

  /// Returns whether a node that gives this name has advertised it. Discovery shows U+FFFD in place of characters that
  /// move the cursor or change the direction of writing, such as the mark in a name of two scripts.
  static func isName(_ name: String, advertisedAs shown: String) -> Bool {
    if name == shown { return true }
    let (given, seen) = (name.unicodeScalars, shown.unicodeScalars)
    return given.count == seen.count
      && zip(given, seen).allSatisfy { given, seen in
        given == seen || seen == "\u{FFFD}" && isReplaced(given.properties.generalCategory)
      }
  }

  private static func isReplaced(_ category: Unicode.GeneralCategory) -> Bool {
    [.control, .format, .lineSeparator, .paragraphSeparator].contains(category)
  }

  /// Returns the names that the key has now.
  func currentNames(of peer: PeerID) -> Set<String> { Set(current.filter { $0.key.peer == peer }.values.joined()) }

  /// Returns all names of the key; empty for a key that was not seen.
  func names(of peer: PeerID, at now: ContinuousClock.Instant) -> Set<String> {
    currentNames(of: peer)
      .union(former.filter { $0.peer == peer && $0.until > now }.map(\.name))
  }
}
