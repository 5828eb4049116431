/// One line of an option table: parsing and `--help` are both made from it.
struct Option<Arguments>: Sendable {
  /// What the option does to the arguments.
  enum Action: Sendable {
    /// Takes no argument.
    case flag(@Sendable (inout Arguments) -> Void)
    /// Takes an argument, called `name` in the help, and checks it: a thrown message is shown as the reason.
    case value(name: String, @Sendable (inout Arguments, OptionArgument) throws(UnacceptableValue) -> Void)
    /// Takes an argument behind `=`, or the next word where `isValue` says that it is one; nil: there is none.
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
  /// More than one counts. Of an option that is not repeatable the last one wins, as everywhere under GNU.
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

  /// As the help shows what follows the option.
  var argumentText: String {
    switch action {
    case .value(let name, _): "=\(name)"
    case .optional(let name, _, _): "[=\(name)]"
    case .flag, .help, .version: ""
    }
  }
}

/// An argument that an option does not take. The parser adds which option it was.
enum UnacceptableValue: Error, Equatable {
  /// Not one of these words.
  case notOneOf([String])
  /// Why not, as it follows "invalid argument 'x' for '--y': ".
  case because(String)
}
