import PiconetWire

/// Dials under way, by their numbers.
struct DialTable: Sendable {
  enum Purpose: Hashable, Sendable {
    /// Our attempt to invite a node.
    case invitation(CommandID)
    /// Another link for the association with this node.
    case search(NodeID)
  }

  /// The purpose and the addresses of a dial.
  struct Dial: Sendable {
    let purpose: Purpose
    let kind: TransportKind
    let addresses: [TransportAddress]
  }

  private var underWay: [DialID: Dial] = [:]
  private var next: UInt64 = 1

  var count: Int { underWay.count }

  mutating func begin(_ kind: TransportKind, _ addresses: [TransportAddress], for purpose: Purpose) -> DialID {
    defer { next += 1 }
    let dial = DialID(rawValue: next)
    underWay[dial] = Dial(purpose: purpose, kind: kind, addresses: addresses)
    return dial
  }

  /// Removes a dial, which has ended with a link or a failure.
  /// - Returns: nil if it was cancelled before.
  mutating func end(_ dial: DialID) -> Dial? { underWay.removeValue(forKey: dial) }

  /// Takes out all dials for this purpose, in the order in which they began.
  mutating func takeAll(for purpose: Purpose) -> [DialID] {
    let dials = underWay.filter { $0.value.purpose == purpose }.keys.sorted()
    for dial in dials { underWay[dial] = nil }
    return dials
  }
}
