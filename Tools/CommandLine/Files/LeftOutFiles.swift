/// Files in directories that are left out, since cameras don't make them or they are hidden: how many of each kind.
struct LeftOutFiles: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case video
    /// From a camera whose raw format is not among the images.
    case raw
    /// Without a byte.
    case empty
    case other
    /// It would be sent if its name, or that of a folder, did not begin with a dot.
    case hidden
  }

  private(set) var videos = 0
  private(set) var raws = 0
  private(set) var empties = 0
  private(set) var others = 0
  private(set) var hidden = 0
  /// Whether there may be more hidden ones, which were not looked at.
  private(set) var mayHideMore = false

  /// The number of files that are not sent for their kind; hidden ones are not among them.
  var count: Int { videos + raws + empties + others }

  mutating func add(_ kind: Kind) {
    switch kind {
    case .video: videos += 1
    case .raw: raws += 1
    case .empty: empties += 1
    case .other: others += 1
    case .hidden: hidden += 1
    }
  }

  /// Notes that there are too many hidden files to examine all of them.
  mutating func passedOverHidden() { mayHideMore = true }

  /// In words, one line for each option that sends them.
  var lines: [String] { [kindsLine, hiddenLine].compactMap { $0 } }

  private var kindsLine: String? {
    let isMixed = videos + raws + empties > 0
    let parts = [
      (videos, "video"), (raws, "raw file"), (empties, "empty file"), (others, isMixed ? "other file" : "file"),
    ]
    .filter { $0.0 > 0 }.map { "\(HumanFigures.count($0.0)) \($0.1)\($0.0 == 1 ? "" : "s")" }
    guard !parts.isEmpty else { return nil }
    return "left out, of other kinds: " + parts.joined(separator: ", ") + " (--any sends them)"
  }

  private var hiddenLine: String? {
    guard hidden > 0 || mayHideMore else { return nil }
    let files =
      hidden == 0
      ? "too many files to look at" : (mayHideMore ? "at least " : "") + HumanFigures.files(hidden)
    return "left out, hidden: \(files) (--hidden sends them)"
  }
}

extension LeftOutFiles.Kind {
  /// Returns the kind of a file that is not of an `ImageKind`, judging by its first bytes.
  init(header: [UInt8]) {
    guard !header.isEmpty else {
      self = .empty
      return
    }
    func has(_ text: String, at offset: Int = 0) -> Bool { header.dropFirst(offset).starts(with: text.utf8) }
    // ISO/IEC 14496-12 and QuickTime, whose files may begin with other boxes; Matroska and WebM; AVI; MPEG program and
    // transport streams; ASF; Ogg is mostly sound.
    let isFilm =
      ["ftyp", "moov", "mdat", "wide"].contains { has($0, at: 4) } || header.starts(with: [0x1A, 0x45, 0xDF, 0xA3])
      || (has("RIFF") && has("AVI ", at: 8)) || header.starts(with: [0x00, 0x00, 0x01, 0xBA])
      || header.starts(with: [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11])
    // Sound may be in the same container.
    if isFilm, !has("ftypM4A", at: 4), !has("ftypM4B", at: 4) {
      self = .video
    } else if has("FOVb") || has("\0MRM") || has("HEAPCCDR", at: 6) {
      self = .raw
    } else {
      self = .other
    }
  }
}
