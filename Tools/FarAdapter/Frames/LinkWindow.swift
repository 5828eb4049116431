import PiconetEngine

/// How many bytes of a link may be on the way between the two machines, in one direction: what was sent, and has not
/// yet been taken. Both machines use the same numbers.
struct LinkWindow: Hashable {
  /// The bytes that may be on the way: no more than keeps a link busy, since what waits here delays what comes after
  /// it.
  let limit: Int
  private(set) var underWay = 0

  init(of traits: LinkTraits) { limit = Self.limit(of: traits) }

  static func limit(of traits: LinkTraits) -> Int {
    traits.isPacket ? max(32 << 10, 2 * Self.largestWrite(of: traits)) : 32 << 10
  }

  /// A packet is carried as one piece.
  static func largestWrite(of traits: LinkTraits) -> Int { min(traits.largestWrite, RelayLimits.piece) }

  var room: Int { limit - underWay }

  /// - Throws: if more is sent than there is room for.
  mutating func send(_ count: Int) throws(RelayError) {
    guard count <= room else { throw RelayError("\(count) bytes where there is room for \(room)") }
    underWay += count
  }

  /// - Throws: if more is taken than was sent.
  mutating func taken(_ count: Int) throws(RelayError) {
    guard 0...underWay ~= count else { throw RelayError("\(count) bytes taken of \(underWay)") }
    underWay -= count
  }
}
