import Glibc

/// The file `forgiven` of the state folder: strangers whose codes a person wants running programs to accept again. Only
/// those programs know which codes were wrong. They read the file before they judge a key.
///
/// The first line is `piconet-forgiven 1`. Each other line is a number, which grows, a tab, and the first digits of a
/// fingerprint, or `*` for all strangers. Any thread may call it; it blocks on the disk.
public struct ForgivenessFile: Sendable {
  static let fileName = "forgiven"
  private static let header = "piconet-forgiven 1"
  private static let byteLimit = 64 << 10
  /// The number of acts that are kept: a running program reads them with the next key that it judges.
  static let entryLimit = 64
  /// The fewest digits that count as the beginning of a fingerprint.
  public static let fewestDigits = 12

  struct Entry: Hashable, Sendable {
    let number: Int64
    /// Empty: all strangers.
    let digits: String
  }

  let directory: StateDirectory

  private var file: StateFile { StateFile(directory: directory, name: Self.fileName, limit: Self.byteLimit) }

  /// Tells this user's running programs.
  /// - Parameters:
  ///   - digits: the first digits of a fingerprint, in lower case, at least 12; empty: all strangers.
  ///   - seconds: now, since 1970.
  public func forgive(_ digits: String, at seconds: Int64) throws(StateFailure) {
    guard digits.isEmpty || Self.areDigits(digits) else {
      throw StateFailure(.unknown, path: file.path, "a stranger is named by 12 to 64 digits of its fingerprint")
    }
    try directory.prepare()
    let lock = try StateLock(directory.file(".forgiven.lock"), within: StateLock.longestTime)
    defer { lock.release() }
    let former = try entries()
    // Greater than all before, also after the file has been removed.
    let number = max(seconds, (former.last?.number ?? 0) + 1)
    let kept = former.suffix(Self.entryLimit - 1) + [Entry(number: number, digits: digits)]
    let lines = kept.map { "\($0.number)\t\($0.digits.isEmpty ? "*" : $0.digits)" }
    try file.replace(Array(([Self.header] + lines).joined(separator: "\n").utf8) + [UInt8(ascii: "\n")])
  }

  /// Returns the entries. Lines that can't be read forgive no stranger.
  func entries() throws(StateFailure) -> [Entry] {
    guard let text = try file.read() else { return [] }
    let lines = text.split(separator: UInt8(ascii: "\n"))
    guard lines.first?.elementsEqual(Self.header.utf8) == true else { return [] }
    return lines.dropFirst().suffix(Self.entryLimit).compactMap { line in
      let fields = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
      guard fields.count == 2, let number = Int64(String(decoding: fields[0], as: UTF8.self)) else { return nil }
      let word = String(decoding: fields[1], as: UTF8.self)
      guard word == "*" || Self.areDigits(word) else { return nil }
      return Entry(number: number, digits: word == "*" ? "" : word)
    }
  }

  private static func areDigits(_ word: String) -> Bool {
    (fewestDigits...64).contains(word.utf8.count)
      && word.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// Returns a reader of new acts: what a person forgave before a program began does not concern it.
  public func reader() -> Reader { Reader(self) }

  /// Hands out each act once to one program.
  public struct Reader: Sendable {
    private let file: ForgivenessFile
    private var version: StateFile.Version?
    private var newest: Int64

    init(_ file: ForgivenessFile) {
      self.file = file
      version = try? file.file.version()
      newest = (try? file.entries())?.last?.number ?? 0
    }

    /// Returns the digits of the acts since the last call, each once; none if the file can't be read.
    public mutating func take() -> [String] {
      guard let now = try? file.file.version(), now != version, let entries = try? file.entries() else { return [] }
      version = now
      let new = entries.filter { $0.number > newest }
      newest = max(newest, entries.last?.number ?? 0)
      return new.map(\.digits)
    }
  }
}
