/// One result of the doctor.
struct Finding: Hashable, Sendable {
  enum Severity: String, Sendable, CaseIterable, Comparable {
    case ok, warning, problem

    static func < (left: Severity, right: Severity) -> Bool {
      (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
  }

  /// A word for programs, such as `adapter.blocked`; the part before the dot is the area that people are shown.
  let word: String
  let severity: Severity
  /// What was found, in one line.
  let text: String
  /// What to do about it; nil if nothing has to be done.
  let advice: String?

  init(_ word: String, _ severity: Severity, _ text: String, advice: String? = nil) {
    self.word = word
    self.severity = severity
    self.text = text
    self.advice = advice
  }

  var area: String { String(word.prefix { $0 != "." }) }
}
