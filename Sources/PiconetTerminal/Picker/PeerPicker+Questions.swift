extension PeerPicker {
  /// A request of a peer, to be answered with yes or no.
  public struct Question: Hashable, Sendable {
    /// Distinguishes questions that are open at one time.
    public var id: String
    /// The text of the question, such as `Kitchen wants to connect.`; names of peers may be in it as they are.
    public var text: String

    /// Creates a question.
    public init(id: String, text: String) {
      self.id = id
      self.text = text
    }
  }

  /// An action of the person while the list stays open.
  @nonexhaustive
  public enum Action: Hashable, Sendable {
    /// Enter, on this peer.
    case picked(id: String)
    /// The answer to a question; also no, if more were open than a person can answer.
    case answered(question: String, accepts: Bool)
  }

  /// The words of a list that depend on its program.
  public struct Words: Hashable, Sendable {
    /// The effect of Enter, such as `sends`.
    public var enter: String
    /// The text after "7 not listed", with its comma, such as `, use --to`.
    public var unlistedHint: String

    /// Creates words; the defaults are for a program that connects.
    public init(enter: String = "connects", unlistedHint: String = "") {
      self.enter = enter
      self.unlistedHint = unlistedHint
    }
  }

  /// Puts a question below the list, after the open ones. It takes the person's keys until it is answered or withdrawn.
  mutating func ask(_ question: Question) {
    guard !questions.contains(where: { $0.id == question.id }) else { return }
    guard questions.count < TerminalLimits.questions else {
      return actions.append(.answered(question: question.id, accepts: false))
    }
    questions.append(question)
  }

  /// Removes a question whose answer is no longer needed.
  mutating func withdraw(question id: String) { questions.removeAll { $0.id == id } }

  /// Returns the actions since the last call.
  mutating func takeActions() -> [Action] {
    defer { actions = [] }
    return actions
  }

  /// - Returns: false if the key does not concern the question.
  mutating func answer(_ question: Question, by key: PickerKey) -> Bool {
    let accepts: Bool
    switch key {
    case .letter("y"), .letter("Y"): accepts = true
    case .letter("n"), .letter("N"), .quit: accepts = false
    case .interrupt, .suspend: return false
    // No other key is an answer, Enter least of all: the person may have been about to pick a peer.
    default: return true
    }
    questions.removeFirst()
    actions.append(.answered(question: question.id, accepts: accepts))
    return true
  }
}
