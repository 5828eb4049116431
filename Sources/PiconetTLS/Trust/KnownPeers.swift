import PiconetWire

/// The peers that this device remembers, as read from a `known-peers` file.
///
/// One line a peer, fields parted by tabs: fingerprint in 64 hexadecimal digits, name (`\\` and `\u{..}` stand for a
/// backslash and for what is not visible), when it was first seen in seconds since 1970. Empty lines and lines that begin with `#`
/// count for nothing. Damaged lines are reported and kept as they are.
public struct KnownPeers: Sendable, Hashable {
  public struct Entry: Sendable, Hashable {
    public var peer: PeerID
    public var name: String
    /// Seconds since 1970.
    public var firstSeen: Int64
    /// Counted from 1.
    public var line: Int
  }

  public struct DamagedLine: Sendable, Hashable {
    /// Counted from 1.
    public var line: Int
    public var reason: String
  }

  /// The most peers remembered.
  public static let entryLimit = 1024
  /// The longest name remembered, in bytes of UTF-8.
  public static let nameByteLimit = 255
  /// The longest line, in bytes: room for a name of which every byte is escaped.
  public static let lineByteLimit = 2048

  /// Where it was read; named in messages to people.
  public let path: String
  /// In the order of the file.
  public private(set) var entries: [Entry] = []
  public private(set) var damagedLines: [DamagedLine] = []
  private(set) var lines: [[UInt8]] = []
  private var index: [PeerID: Int] = [:]

  public init(path: String, text: [UInt8] = []) {
    self.path = path
    for bytes in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      lines.append(Array(bytes))
      read(bytes, line: lines.count)
    }
    // What follows the last newline is a line only if there is something in it.
    if lines.last?.isEmpty == true { lines.removeLast() }
  }

  public func entry(of peer: PeerID) -> Entry? { index[peer].map { entries[$0] } }

  /// All peers remembered under a name: several devices may have the same.
  public func entries(named name: String) -> [Entry] { entries.filter { $0.name == name } }

  /// Adds the peer. One that is known keeps the name under which it was remembered, whatever it calls itself now: a name that a peer
  /// could change would take the place of somebody else's.
  /// - Returns: false if nothing had to change.
  mutating func remember(_ peer: PeerID, name: String, at seconds: Int64) throws(StateFailure) -> Bool {
    guard name.utf8.count <= Self.nameByteLimit else {
      throw StateFailure(.limit, path: path, "a name is longer than \(Self.nameByteLimit) bytes")
    }
    if index[peer] != nil { return false }
    guard entries.count < Self.entryLimit, lines.count < 2 * Self.entryLimit else {
      throw StateFailure(
        .limit, path: path, "\(entries.count) peers are remembered, no more fit; remove lines that you don't need")
    }
    let entry = Entry(peer: peer, name: name, firstSeen: seconds, line: lines.count + 1)
    index[peer] = entries.count
    entries.append(entry)
    lines.append(Self.format(entry))
    return true
  }

  /// The whole file.
  var text: [UInt8] { lines.reduce(into: []) { $0 += $1 + [UInt8(ascii: "\n")] } }

  private static func format(_ entry: Entry) -> [UInt8] {
    Array("\(entry.peer)\t\(PeerNameEscaping.escape(entry.name))\t\(entry.firstSeen)".utf8)
  }

  private mutating func read(_ bytes: ArraySlice<UInt8>, line: Int) {
    if bytes.isEmpty || bytes.first == UInt8(ascii: "#") { return }
    let fields = bytes.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
    var reason = "not a fingerprint, a name and a number, parted by tabs"
    if bytes.count > Self.lineByteLimit {
      reason = "longer than \(Self.lineByteLimit) bytes"
    } else if fields.count == 3, let peer = PeerID(hexadecimal: String(decoding: fields[0], as: UTF8.self)),
      let escaped = String(validating: fields[1], as: UTF8.self), let name = PeerNameEscaping.unescape(escaped),
      let firstSeen = Int64(String(decoding: fields[2], as: UTF8.self))
    {
      if index[peer] != nil {
        reason = "this peer is in an earlier line already"
      } else if entries.count >= Self.entryLimit {
        reason = "more than \(Self.entryLimit) peers"
      } else {
        index[peer] = entries.count
        entries.append(Entry(peer: peer, name: name, firstSeen: firstSeen, line: line))
        return
      }
    }
    damagedLines.append(DamagedLine(line: line, reason: reason))
  }
}
