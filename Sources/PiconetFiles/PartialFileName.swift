import Glibc

/// The name of a file that is not complete yet:
/// - `.piconet-<process id>-<32 hexadecimal digits>.part`: an ordinary one.
/// - `.piconet-resume-<32 hexadecimal digits>.part`: one that another process may resume, with its journal beside it.
/// - `.piconet-resume-<32 hexadecimal digits>-stranger.part`: the same, from a sender that was not known when it began.
///
/// `SafeFileName` accepts no leading dot, so no peer can give a file such a name.
package struct PartialFileName: Hashable, Sendable {
  static let prefix = ".piconet-"
  static let suffix = ".part"
  static let journalSuffix = ".journal"
  static let claimSuffix = ".claim"
  private static let keptMark = "resume"
  private static let strangerMark = "-stranger"

  let text: String

  /// Returns whether a name begins as all of these do, and those of journals and notes.
  package static func isReserved(_ name: some Sequence<UInt8>) -> Bool { name.starts(with: prefix.utf8) }

  static func random() -> PartialFileName {
    let digits = [UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)].map { number in
      let text = String(number, radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }
    return PartialFileName(text: "\(prefix)\(getpid())-\(digits[0])\(digits[1])\(suffix)")
  }

  /// Returns the name of an empty file that shows whether the file system accepts these characters.
  func probe(of characters: [UInt8]) -> String {
    text.dropLast(Self.suffix.utf8.count) + String(decoding: characters, as: UTF8.self)
  }

  private init(text: String) { self.text = text }

  init(kept digits: some StringProtocol, ofStranger isOfStranger: Bool = false) {
    text = "\(Self.prefix)\(Self.keptMark)-\(digits)\(isOfStranger ? Self.strangerMark : "")\(Self.suffix)"
  }

  /// For a file that a transfer may resume: whether its sender was not known when it began.
  var isOfStranger: Bool { text.hasSuffix(Self.strangerMark + Self.suffix) }

  /// For a file that a transfer may resume: identifies its sender.
  var sender: Substring { text.dropFirst("\(Self.prefix)\(Self.keptMark)-".count).prefix(16) }

  /// The name of the journal of a file that a transfer may resume.
  var journal: String { text.dropLast(Self.suffix.count) + Self.journalSuffix }

  /// The name of the note (`FileNameClaim`) about the name that the file is about to get, if it needs one.
  var claim: String { text.dropLast(Self.suffix.count) + Self.claimSuffix }

  /// Recognizes the name of such a note, for either kind of file.
  init?(claim name: String) {
    guard name.hasSuffix(Self.claimSuffix) else { return nil }
    let text = String(name.dropLast(Self.claimSuffix.count)) + Self.suffix
    guard let known = PartialFileName(text) ?? PartialFileName(keptOrJournal: text) else { return nil }
    self = known
  }

  /// Recognizes the name of a file that a transfer may resume, or of its journal.
  init?(keptOrJournal name: String) {
    let suffix = name.hasSuffix(Self.journalSuffix) ? Self.journalSuffix : Self.suffix
    let start = "\(Self.prefix)\(Self.keptMark)-"
    guard name.hasPrefix(start), name.hasSuffix(suffix), name.utf8.count >= start.utf8.count + suffix.utf8.count
    else { return nil }
    var digits = name.dropFirst(start.count).dropLast(suffix.count)
    let isOfStranger = digits.hasSuffix(Self.strangerMark)
    if isOfStranger { digits = digits.dropLast(Self.strangerMark.count) }
    guard digits.utf8.count == 32, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    self.init(kept: digits, ofStranger: isOfStranger)
  }

  /// Recognizes names of this form, and no others.
  init?(_ text: String) {
    guard text.hasPrefix(Self.prefix), text.hasSuffix(Self.suffix),
      text.utf8.count > Self.prefix.utf8.count + Self.suffix.utf8.count
    else { return nil }
    let middle = text.utf8.dropFirst(Self.prefix.utf8.count).dropLast(Self.suffix.utf8.count)
    let parts = middle.split(separator: 0x2D, omittingEmptySubsequences: false)
    guard parts.count == 2, (1...10).contains(parts[0].count), parts[1].count == 32,
      parts[0].allSatisfy({ (0x30...0x39).contains($0) }),
      parts[1].allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    self.text = text
  }
}
