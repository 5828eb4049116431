/// One line of an option table: parsing, `--help`, the manual and the shell completions are all made from it.
struct Option<Arguments>: Sendable {
  /// What the option does to the arguments.
  enum Action: Sendable {
    /// Takes no argument.
    case flag(@Sendable (inout Arguments) -> Void)
    /// Takes an argument, called `name` in the help, and checks it: a thrown message is shown as the reason.
    case value(name: String, @Sendable (inout Arguments, OptionArgument) throws(UnacceptableValue) -> Void)
    /// Takes an argument after `=`, or the next word if `isValue` says that it is one; nil: it has no argument.
    case optional(
      name: String, isValue: @Sendable ([UInt8]) -> Bool,
      @Sendable (inout Arguments, OptionArgument?) throws(UnacceptableValue) -> Void)
    /// Prints the help and ends.
    case help
    /// Prints the version and ends.
    case version
  }

  /// Without the dashes.
  let long: String
  let short: Character?
  /// Whether more than one counts. If an option is not repeatable the last one wins, as everywhere in GNU.
  let repeatable: Bool
  let help: String
  let action: Action

  init(_ long: String, short: Character? = nil, repeatable: Bool = false, help: String, _ action: Action) {
    self.long = long
    self.short = short
    self.repeatable = repeatable
    self.help = help
    self.action = action
  }
}

/// An argument that an option does not accept. The parser adds which option it was.
enum UnacceptableValue: Error, Equatable {
  /// Not one of these words.
  case notOneOf([String])
  /// The reason, worded to follow "invalid argument 'x' for '--y': ".
  case because(String)
}
