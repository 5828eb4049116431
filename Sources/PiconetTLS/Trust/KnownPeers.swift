import PiconetWire

/// The peers that this device knows, as read from a `known-peers` file.
///
/// The line `piconet-known-peers 3` states the version; without it the version is 1. Each other line is a peer: see
/// `KnownPeer.line`. In names `\\` and `\u{..}` stand for a backslash and for characters that are not visible. Empty
/// lines and lines that begin with `#` are ignored. Damaged lines are reported and kept as they are. A damaged line
/// that says that a key is `blocked` still keeps that key out.
///
/// Since version 3 the last line, `piconet-known-peers end 12`, counts the lines of peers, damaged ones included. A
/// file without it has lost its end, and perhaps peers that were blocked, so it is not read.
public struct KnownPeers: Sendable, Hashable {
  /// A line of the file that can't be read.
  public struct Damage: Sendable, Hashable {
    /// The line number, counted from 1.
    public var line: Int
    /// Why it can't be read, for a person.
    public var reason: String
  }

  /// The version that is written; older ones are read.
  public static let version = 3
  private static let versionWord = "piconet-known-peers "
  private static let endWord = "piconet-known-peers end "
  /// The most peers in the table.
  public static let entryLimit = 1024
  /// The longest name, in bytes of UTF-8.
  public static let nameByteLimit = 255
  /// Returns whether any character of a name is visible: not if it is empty, or made only of spaces, control and format
  /// characters, and marks.
  public static func isVisible(name: String) -> Bool {
    name.unicodeScalars.contains { scalar in
      let properties = scalar.properties
      switch properties.generalCategory {
      case .control, .format, .surrogate, .privateUse, .lineSeparator, .paragraphSeparator, .spaceSeparator,
        .nonspacingMark, .enclosingMark:
        return false
      // The Braille pattern without dots.
      default: return !properties.isDefaultIgnorableCodePoint && scalar != "\u{2800}"
      }
    }
  }

  /// The longest line, in bytes.
  public static let lineByteLimit = 4096

  /// The path from which it was read; named in messages to people.
  public let path: String
  /// The peers, in the order of the file.
  public private(set) var entries: [KnownPeer] = []
  /// The lines that could not be read; they stay in the file as they are.
  public private(set) var damagedLines: [Damage] = []
  private var lines: [[UInt8]] = []
  /// The index of each entry's line.
  private var places: [Int] = []
  private var index: [PeerID: Int] = [:]
  private var names: [String: [PeerID]] = [:]
  /// Keys blocked by lines that are otherwise unreadable, with the numbers of these lines, counted from 1.
  private var damagedBlocks: [PeerID: Int] = [:]
  /// The version of the text that was read.
  private var versionRead = Self.version

  /// - Throws: `newerVersion` if a newer version of this program wrote it, so that nothing in it can be relied on;
  ///   `damaged` if a part of it is missing.
  public init(path: String, text: [UInt8]) throws(StateFailure) {
    self.init(path: path)
    for bytes in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      lines.append(Array(bytes))
    }
    // The text after the last newline is a line only if it is not empty.
    let isEndedLine = lines.last?.isEmpty == true
    if isEndedLine { lines.removeLast() }
    let declared = lines.firstIndex { $0.starts(with: Self.versionWord.utf8) }
    versionRead = 1
    if let declared {
      let word = String(decoding: lines[declared].dropFirst(Self.versionWord.utf8.count), as: UTF8.self)
      if lines[declared].starts(with: Self.endWord.utf8) { throw cut("its first line is missing") }
      if !word.isEmpty || isEndedLine { versionRead = try checkedVersion(word) } else { throw cut("it ends early") }
    } else if lines.isEmpty {
      throw cut("it is empty, as no program leaves it")
    } else if !isEndedLine, lines.count == 1, Self.versionWord.utf8.starts(with: lines[0]) {
      throw cut("it ends within its first line")
    }
    let promised = versionRead >= 3 ? try takeEnd(isEndedLine) : 0
    for (place, bytes) in lines.enumerated() where place != declared { read(bytes[...], place) }
    // Version 1 has no such line, but a comment or a peer.
    if declared == nil, entries.isEmpty, !lines.contains(where: { $0.elementsEqual(Self.firstHeader.utf8) }) {
      throw cut("it is not a table of devices")
    }
    if peerLines < promised {
      throw cut("its last line counts \(promised) devices, but \(peerLines) are there")
    }
  }

  private func checkedVersion(_ word: String) throws(StateFailure) -> Int {
    guard let number = Int(word), number > 0, number <= Self.version else {
      throw StateFailure(
        .newerVersion, path: path,
        "was written by a newer version of this program (\(PeerNameEscaping.escape(String(word.prefix(20)))); this one reads up to "
          + "\(Self.version)); use that one, or move the file away")
    }
    return number
  }

  /// Removes the last line.
  /// - Returns: how many lines of peers it states.
  private mutating func takeEnd(_ isEndedLine: Bool) throws(StateFailure) -> Int {
    guard isEndedLine, let last = lines.last, last.starts(with: Self.endWord.utf8),
      let count = Int(String(decoding: last.dropFirst(Self.endWord.utf8.count), as: UTF8.self)), count >= 0
    else { throw cut("its last line, which counts the devices, is missing") }
    lines.removeLast()
    return count
  }

  /// Returns the failure for a file of which a part is missing: a device that a person has blocked may be in that part.
  private func cut(_ what: String) -> StateFailure {
    let former = "\(path)\(StateFile.formerSuffix)"
    return StateFailure(
      .damaged, path: path,
      "a part is missing: \(what). It may have blocked a device: put back the former file, '\(former)', or move this one away"
    )
  }

  /// The number of lines of peers, including those that can't be read.
  private var peerLines: Int { lines.count { !Self.isRemark($0[...]) && !$0.starts(with: Self.versionWord.utf8) } }

  private static func isRemark(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.isEmpty || bytes.first == UInt8(ascii: "#")
  }

  /// Creates a table without peers.
  public init(path: String) { self.path = path }

  /// Returns the record of the peer with this fingerprint; nil for a stranger.
  public subscript(peer: PeerID) -> KnownPeer? { index[peer].map { entries[$0] } }

  /// Returns the number of the peer's line in the file, counted from 1.
  public func line(of peer: PeerID) -> Int? { index[peer].map { places[$0] + 1 } }

  /// Returns the number of a damaged line that blocks the peer, counted from 1.
  public func damagedBlock(of peer: PeerID) -> Int? { damagedBlocks[peer] }

  /// Returns whether a person has blocked the key, known or not.
  public func isBlocked(_ peer: PeerID) -> Bool { self[peer]?.isBlocked == true || damagedBlocks[peer] != nil }

  /// Returns all peers known under a name: a file of version 1 may have several.
  public func entries(named name: String) -> [KnownPeer] { (names[name] ?? []).compactMap { self[$0] } }

  /// Returns the peer that was reached at this address.
  public func entry(at address: String) -> KnownPeer? { entries.first { $0.addresses.contains(address) } }

  /// Returns the peers whose names look like this one, or like its part before digits in brackets, except the peer
  /// itself. The peer's own digits at the end distinguish it.
  public func lookalikes(of name: String, but peer: PeerID? = nil) -> [KnownPeer] {
    let hasOwnDigits = peer.flatMap { BracketedDigits.name(name, before: $0) } != nil
    let wanted = hasOwnDigits ? [NameSkeleton(name)] : NameSkeleton.all(of: name)
    return entries.filter { $0.id != peer && wanted.contains(NameSkeleton($0.name)) }
  }

  /// Adds the peer, or replaces the one with its key.
  /// - Throws: `limit` if the table is full, or something about the peer is too long.
  mutating func put(_ peer: KnownPeer) throws(StateFailure) {
    guard !peer.name.isEmpty, peer.name.utf8.count <= Self.nameByteLimit else {
      throw StateFailure(.limit, path: path, "a name has 1 to \(Self.nameByteLimit) bytes")
    }
    let line = peer.line
    guard line.count <= Self.lineByteLimit else {
      throw StateFailure(
        .limit, path: path, "what is to be known of one device is longer than \(Self.lineByteLimit) bytes")
    }
    if let index = index[peer.id] {
      unname(entries[index])
      entries[index] = peer
      lines[places[index]] = line
    } else {
      guard entries.count < Self.entryLimit, lines.count < 2 * Self.entryLimit else {
        throw StateFailure(
          .limit, path: path,
          "\(entries.count) devices are known, no more fit; forget those that you don't need: piconet trust forget NAME"
        )
      }
      add(peer, at: lines.count)
      lines.append(line)
      return
    }
    names[peer.name, default: []].append(peer.id)
  }

  /// - Returns: false if the peer is not known.
  mutating func remove(_ peer: PeerID) -> Bool {
    guard let gone = index.removeValue(forKey: peer) else { return false }
    unname(entries[gone])
    entries.remove(at: gone)
    places.remove(at: gone)
    for other in index.keys { if let former = index[other], former > gone { index[other] = former - 1 } }
    // Further lines with this key were ignored because this one came first; they must not take effect now.
    for place in lines.indices.reversed() {
      if PeerID(hexadecimal: String(decoding: lines[place].prefix(64), as: UTF8.self)) == peer { drop(line: place) }
    }
    return true
  }

  private mutating func drop(line place: Int) {
    lines.remove(at: place)
    for other in places.indices where places[other] > place { places[other] -= 1 }
    damagedLines.removeAll { $0.line == place + 1 }
    for other in damagedLines.indices where damagedLines[other].line > place { damagedLines[other].line -= 1 }
    damagedBlocks = damagedBlocks.filter { $0.value != place + 1 }.mapValues { $0 > place ? $0 - 1 : $0 }
  }

  /// Whether an older version of this program wrote it.
  var isOld: Bool { versionRead < Self.version }

  /// The whole file, in the present version.
  var text: [UInt8] {
    var written = lines
    if isOld || !written.contains(where: { $0.starts(with: Self.versionWord.utf8) }) {
      for (entry, place) in zip(entries, places) { written[place] = entry.line }
      written.removeAll { $0.starts(with: Self.versionWord.utf8) }
      if versionRead < 2 { written.removeAll { $0.elementsEqual(Self.firstHeader.utf8) } }
      let first = Array("\(Self.versionWord)\(Self.version)".utf8)
      let header = Array(Self.header.utf8)
      written = [first] + (written.contains(header) ? [] : [header]) + written
    }
    written.append(Array("\(Self.endWord)\(peerLines)".utf8))
    return written.reduce(into: []) { $0 += $1 + [UInt8(ascii: "\n")] }
  }

  private static let header =
    "# One line a device: fingerprint, name here, since (seconds since 1970), how confirmed, rights, addresses. Change it with: piconet trust"
  /// The header of version 1.
  private static let firstHeader = "# Piconet: one line a device: fingerprint, name, first seen (seconds since 1970)"

  private mutating func add(_ peer: KnownPeer, at place: Int) {
    index[peer.id] = entries.count
    entries.append(peer)
    places.append(place)
    names[peer.name, default: []].append(peer.id)
  }

  private mutating func unname(_ peer: KnownPeer) {
    names[peer.name]?.removeAll { $0 == peer.id }
    if names[peer.name]?.isEmpty == true { names[peer.name] = nil }
  }

  private mutating func read(_ bytes: ArraySlice<UInt8>, _ place: Int) {
    if Self.isRemark(bytes) { return }
    var reason =
      versionRead == 1
      ? "not a fingerprint, a name and a number, parted by tabs"
      : "not a fingerprint, a name, a number, how it was confirmed, rights and addresses, parted by tabs"
    if bytes.count > Self.lineByteLimit {
      reason = "longer than \(Self.lineByteLimit) bytes"
    } else if let peer = KnownPeer(line: bytes, version: versionRead) {
      if index[peer.id] != nil {
        reason = "this peer is in an earlier line already"
      } else if entries.count >= Self.entryLimit {
        reason = "more than \(Self.entryLimit) peers"
      } else {
        return add(peer, at: place)
      }
    }
    damagedLines.append(Damage(line: place + 1, reason: reason))
    if let peer = Self.blocked(by: bytes) { damagedBlocks[peer] = place + 1 }
  }

  /// Returns the key in an unreadable line, if the line says that it is blocked: a typing error in the file must not
  /// let any peer in.
  private static func blocked(by bytes: ArraySlice<UInt8>) -> PeerID? {
    let words = bytes.split { $0 <= UInt8(ascii: " ") }
    guard words.dropFirst().contains(where: { $0.elementsEqual("blocked".utf8) }) else { return nil }
    return words.first.flatMap { PeerID(hexadecimal: String(decoding: $0, as: UTF8.self)) }
  }
}
