/// The question whether to accept a peer's files, as a desktop shows it where no one is at a terminal.
struct DesktopQuestion: Hashable, Sendable {
  enum Choice: String, CaseIterable, Sendable {
    case accept, decline

    var label: String {
      switch self {
      case .accept: "Accept"
      case .decline: "Decline"
      }
    }

    /// A click shows that a person wants the files, not that codes were compared: the device is not remembered.
    var answer: AcceptQuestion.Answer {
      switch self {
      case .accept: .once
      case .decline: .no
      }
    }
  }

  let summary: String
  /// Plain text, safe to show.
  let body: String

  /// Characters of a line that are shown: a name may have hundreds.
  static let lineLimit = 160

  /// - Parameters:
  ///   - words: who wants what, and what has been announced: lines that are safe to show.
  ///   - code: what both screens show. It comes first: desktops cut what is long, and the names of the files are up to
  ///     the sender.
  init(words: [String], code: String) {
    summary = "Take files from a device nearby?"
    let lines = words.map { $0.count > Self.lineLimit ? $0.prefix(Self.lineLimit - 1) + "…" : $0 }
    body = (["Code: \(code)   The other screen must show the same."] + lines).joined(separator: "\n")
  }
}
