/// The question whether to accept files from somebody, as a desktop shows it where nobody is at a terminal.
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

  /// - Parameters:
  ///   - words: who wants what, and what has been announced: lines that are safe to show.
  ///   - code: what both screens show.
  init(words: [String], code: String) {
    summary = "Take files from a device nearby?"
    body = (words + ["Code: \(code)   The other screen must show the same."]).joined(separator: "\n")
  }
}
