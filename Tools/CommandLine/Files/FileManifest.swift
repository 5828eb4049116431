import Piconet

/// Files about which a sender asks, before it offers them, which ones the receiver has already. One message in channel
/// 0 (wire-format.md, section 16), as lines of text:
///
///     piconet-manifest 1 7
///     1000 <64 hexadecimal digits> holiday/beach.jpg
///
/// The number, here 7, is the sender's, and comes back with the answer. A sender begins with a manifest of no files: a
/// receiver that answers it answers others.
struct FileManifest: Hashable, Sendable {
  struct File: Hashable, Sendable {
    /// With the folders that it is to be stored below.
    let name: String
    let bytes: Int64
    let digest: SHA256Digest
  }

  let number: UInt64
  private(set) var files: [File] = []
  private(set) var encoded: [UInt8]

  /// What every node takes as a message (limits.md).
  static let byteLimit = 64 << 10
  static let fileLimit = 512
  /// Of all files together, since they are read before there is an answer. A larger file is offered by itself, so that
  /// it can be seen how far its comparison is.
  static let contentLimit: Int64 = 32 << 20
  static let largestFile: Int64 = 8 << 20

  fileprivate static let mark = "piconet-manifest 1 "

  init(number: UInt64) {
    self.number = number
    encoded = Array("\(Self.mark)\(number)\n".utf8)
  }

  /// - Returns: false if there is no room for it, or its name can't be written.
  mutating func add(_ file: File) -> Bool {
    let line = Array("\(file.bytes) \(file.digest.hexadecimal) \(file.name)\n".utf8)
    guard files.count < Self.fileLimit, encoded.count + line.count <= Self.byteLimit, !file.name.utf8.contains(0x0A)
    else { return false }
    files.append(file)
    encoded += line
    return true
  }

  /// Reads what a peer has written; nil if it is not this, or more than may be.
  init?(_ message: ArraySlice<UInt8>) {
    guard message.count <= Self.byteLimit, var lines = MessageLines(message),
      let number = lines.next().flatMap({ $0.number(behind: Self.mark) })
    else { return nil }
    self.init(number: number)
    var left = Self.contentLimit
    while let line = lines.next() {
      let words = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
      guard words.count == 3, let bytes = words[0].number.flatMap(Int64.init(exactly:)), bytes <= left,
        let digest = SHA256Digest(hexadecimal: String(decoding: words[1], as: UTF8.self)), !words[2].isEmpty,
        let name = String(validating: words[2], as: UTF8.self),
        add(File(name: name, bytes: bytes, digest: digest))
      else { return nil }
      left -= bytes
    }
  }
}

/// The answer of a receiver: a line for each file. `=`: it has the file under the requested name. `+` and the path
/// below its directory: under another name. `-`: it does not have it.
///
///     piconet-manifest-answer 1 7
///     =
///     -
///     +holiday/beach (2).jpg
struct ManifestAnswer: Hashable, Sendable {
  enum Outcome: Hashable, Sendable {
    case absent
    case present
    case presentAs(String)
  }

  let number: UInt64
  var outcomes: [Outcome] = []

  /// The limit for an answer without names. An answer with more lines than a manifest, or a longer name than any
  /// receiver stores, is invalid.
  private static let byteLimit = 95 << 10
  private static let mark = "piconet-manifest-answer 1 "

  init(number: UInt64, outcomes: [Outcome] = []) { (self.number, self.outcomes) = (number, outcomes) }

  /// Returns the answer as one message; a path for which there is no room is left out, and its file counts as absent.
  func encoded(atMost limit: Int = byteLimit) -> [UInt8] {
    var text = Array("\(Self.mark)\(number)\n".utf8)
    for (index, outcome) in outcomes.enumerated() {
      switch outcome {
      case .absent: text += [0x2D, 0x0A]
      case .present: text += [0x3D, 0x0A]
      case .presentAs(let path):
        let hasRoom = text.count + path.utf8.count + 2 + 2 * (outcomes.count - index) <= limit
        guard hasRoom, !path.utf8.contains(0x0A) else {
          text += [0x2D, 0x0A]
          continue
        }
        text.append(0x2B)
        text += path.utf8
        text.append(0x0A)
      }
    }
    return text
  }

  /// Reads what a peer has written; nil if it is not this.
  init?(_ message: ArraySlice<UInt8>) {
    guard message.count <= Self.byteLimit, var lines = MessageLines(message),
      let number = lines.next().flatMap({ $0.number(behind: Self.mark) })
    else { return nil }
    self.number = number
    while let line = lines.next() {
      guard outcomes.count < FileManifest.fileLimit else { return nil }
      switch line.first {
      case 0x2D where line.count == 1: outcomes.append(.absent)
      case 0x3D where line.count == 1: outcomes.append(.present)
      case 0x2B:
        guard line.count > 1, let path = String(validating: line.dropFirst(), as: UTF8.self) else { return nil }
        outcomes.append(.presentAs(path))
      default: return nil
      }
    }
  }
}

/// The lines of a message, each of which ends with a line feed.
private struct MessageLines: IteratorProtocol {
  private var rest: ArraySlice<UInt8>

  init?(_ message: ArraySlice<UInt8>) {
    guard message.last == 0x0A else { return nil }
    rest = message
  }

  mutating func next() -> ArraySlice<UInt8>? {
    guard let end = rest.firstIndex(of: 0x0A) else { return nil }
    defer { rest = rest[(end + 1)...] }
    return rest[..<end]
  }
}

extension ArraySlice<UInt8> {
  /// A number that is written as decimal digits and nothing else.
  fileprivate var number: UInt64? {
    guard !isEmpty, count <= 20, allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return UInt64(String(decoding: self, as: UTF8.self))
  }

  /// The number that is all behind these words.
  fileprivate func number(behind words: String) -> UInt64? {
    starts(with: words.utf8) ? dropFirst(words.utf8.count).number : nil
  }
}
