/// The command line of one program, declared once.
struct OptionTable<Arguments: Sendable>: Sendable {
  /// What the program does with words that are not options.
  enum Operands: Sendable {
    case none
    /// At least one; the word completes "missing ... operand".
    case required(word: String, @Sendable (inout Arguments, LocalPath) -> Void)
    /// Any number, including none.
    case any(@Sendable (inout Arguments, LocalPath) throws(UsageError) -> Void)
    /// At most one.
    case optional(@Sendable (inout Arguments, OptionArgument) throws(UsageError) -> Void)
  }

  typealias Section = CommandDescription.Section

  let program: String
  /// What follows "Usage: program ".
  let usage: String
  /// One or two sentences.
  let summary: String
  let options: [Option<Arguments>]
  var operands: Operands
  let sections: [Section]
  /// What a shell offers for operands.
  var operandWords: CompletedWords = .nothing
  /// Options that mean nothing in a configuration file, or would surprise a person who has forgotten it.
  var onlyOnCommandLine: Set<String> = ["help", "version"]
  /// Refuses options that contradict each other, once all are read.
  var check: (@Sendable (Arguments) throws(UsageError) -> Void)? = nil
}

/// What a command line asks for.
enum Invocation<Arguments> {
  case run(Arguments)
  /// Print this to standard output and end with 0.
  case print(String)
}
