/// The command line of one program, declared once.
struct OptionTable<Arguments: Sendable>: Sendable {
  /// What the program does with what is no option.
  enum Operands: Sendable {
    case none
    /// At least one; the word completes "missing ... operand".
    case required(word: String, @Sendable (inout Arguments, LocalPath) -> Void)
    /// Any number, none too.
    case any(@Sendable (inout Arguments, LocalPath) -> Void)
    /// None or one.
    case optional(@Sendable (inout Arguments, OptionArgument) throws(UsageError) -> Void)
  }

  /// A part of the help after the options: a heading and lines that are wrapped with a hanging indent.
  struct Section: Sendable {
    /// Left column and text; a row without text is printed as it stands.
    typealias Row = (term: String, text: String)
    let title: String
    let rows: [Row]
  }

  let program: String
  /// What follows "Usage: program ".
  let usage: String
  /// One or two sentences.
  let summary: String
  let options: [Option<Arguments>]
  let operands: Operands
  let sections: [Section]
  /// Refuses options that contradict each other, once all are read.
  var check: (@Sendable (Arguments) throws(UsageError) -> Void)? = nil
}

/// What a command line asks for.
enum Invocation<Arguments> {
  case run(Arguments)
  /// Print this to standard output and end with 0.
  case print(String)
}
