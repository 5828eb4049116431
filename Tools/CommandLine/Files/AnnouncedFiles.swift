/// The description of a sender's files in its invitation, before a byte of their content goes: their number, their
/// size, and the names of the first. It travels as the invitation's context, as lines of text:
///
///     piconet-files 1
///     432 1200000000 whole
///     3200000 holiday/IMG_0001.jpg
///
/// A sender that had not counted all of them when it invited writes `partial` in place of `whole`, and the figures
/// counted so far. A fourth word may have pictures of the first files (`ContactSheet`). Further text after the third
/// word belongs to later versions, and is ignored.
struct AnnouncedFiles: Hashable, Sendable {
  struct File: Hashable, Sendable {
    /// With the folders that it is to be stored below.
    let name: String
    let bytes: Int64
  }

  var files = 0
  var bytes: Int64 = 0
  /// Whether there are no more than these.
  var isWhole = false
  /// The first of them.
  var first: [File] = []
  /// Pictures of some of them. Its places are less than the number of `first`.
  var sheet: ContactSheet?

  /// What an invitation can carry (wire-format.md), and what is kept of it.
  static let byteLimit = 8_192
  static let fileLimit = 200
  private static let mark = "piconet-files 1"

  /// Counts another file.
  mutating func add(_ name: String, bytes size: Int64) {
    files += 1
    bytes.add(bytes: size)
    if first.count < Self.fileLimit { first.append(File(name: name, bytes: size)) }
  }

  /// As an invitation carries it: without the names for which there is no room, and without pictures where not even
  /// these files' names have room beside them.
  var encoded: [UInt8] {
    if let sheet, let last = sheet.places.last {
      let (text, names) = encoded(with: " " + sheet.word)
      if last < names { return text }
    }
    return encoded(with: "").text
  }

  private func encoded(with word: String) -> (text: [UInt8], names: Int) {
    var text = Array("\(Self.mark)\n\(files) \(bytes) \(isWhole ? "whole" : "partial")\(word)\n".utf8)
    for (index, file) in first.enumerated() {
      let line = Array("\(file.bytes) \(file.name)\n".utf8)
      guard text.count + line.count <= Self.byteLimit, !file.name.contains("\n") else { return (text, index) }
      text += line
    }
    return (text, first.count)
  }

  /// The part that a receiver may know before a person has confirmed the sender: the number of files, and their size.
  var withoutNames: AnnouncedFiles {
    var files = self
    files.first = []
    files.sheet = nil
    return files
  }

  init() {}

  /// Reads a peer's text; nil if it is empty, or malformed.
  init?(_ context: [UInt8]) {
    guard context.count <= Self.byteLimit, let text = String(validating: context, as: UTF8.self) else { return nil }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 3, lines[0] == Self.mark, lines[lines.count - 1].isEmpty else { return nil }
    let words = lines[1].split(separator: " ", omittingEmptySubsequences: false)
    guard words.count >= 3, let files = Self.number(words[0]).flatMap({ Int(exactly: $0) }),
      let bytes = Self.number(words[1]), words[2] == "whole" || words[2] == "partial"
    else { return nil }
    for line in lines[2..<(lines.count - 1)] {
      guard first.count < Self.fileLimit, let space = line.firstIndex(of: " "), let size = Self.number(line[..<space]),
        case let name = line[line.index(after: space)...], !name.isEmpty
      else { return nil }
      first.append(File(name: String(name), bytes: size))
    }
    guard first.count <= files else { return nil }
    (self.files, self.bytes, isWhole) = (files, bytes, words[2] == "whole")
    // A malformed sheet is no reason to show nothing.
    if words.count > 3, let sheet = ContactSheet(word: words[3]), let last = sheet.places.last, last < first.count {
      self.sheet = sheet
    }
  }

  private static func number(_ text: Substring) -> Int64? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
  }

  // MARK: In words

  /// How many names a question shows.
  static let shownFiles = 5

  /// `432 files, 1.2 GB`.
  var text: String { "\(isWhole ? "" : "at least ")\(HumanFigures.files(files)), \(HumanFigures.bytes(bytes))" }

  /// The first files, a line each, and how many more there are.
  /// - Parameters:
  ///   - limit: how many names.
  ///   - safe: makes a peer's words safe to show.
  ///   - isNumbered: whether a person is to choose by the numbers.
  func lines(atMost limit: Int = shownFiles, isNumbered: Bool = false, safe: (String) -> String) -> [String] {
    let shown = first.prefix(limit)
    let digits = "\(shown.count)".count
    var lines = shown.enumerated().map { index, file in
      let number = "\(index + 1)"
      let start = isNumbered ? String(repeating: " ", count: digits - number.count) + number + "  " : ""
      return "  \(start)\(safe(file.name))  \(HumanFigures.bytes(file.bytes))"
    }
    let rest = files - shown.count
    if rest > 0, !shown.isEmpty { lines.append("  and \(HumanFigures.count(rest)) more") }
    return lines
  }

  /// How the bytes compare with the space that is free; nil if that is not known.
  func roomText(free: Int64?) -> String? {
    guard let free else { return nil }
    let short = bytes - free
    return "\(HumanFigures.bytes(free)) are free here"
      + (short > 0 ? ": NOT ENOUGH, \(HumanFigures.bytes(short)) are lacking" : ".")
  }
}
