/// The command line of a program or of a command, as it is documented: `--help`, the manual and the shell completions
/// are all made from it, and it is made from the option table.
struct CommandDescription: Sendable {
  struct Option: Sendable {
    /// Without the dashes.
    let long: String
    let short: Character?
    let isRepeatable: Bool
    let help: String
    let argument: Argument
  }

  enum Argument: Hashable, Sendable {
    case none
    /// Its name in the help.
    case required(String)
    case optional(String)
  }

  /// A part of the help after the options: a heading and lines that are wrapped with a hanging indent.
  struct Section: Sendable {
    /// Left column and text; a row without text is printed as it is.
    typealias Row = (term: String, text: String)
    let title: String
    let rows: [Row]
  }

  /// The program with its command, as in `piconet ping`.
  let program: String
  /// What follows "Usage: program "; further ways are lines that begin with " or: " and the program.
  let usage: String
  /// One or two sentences.
  let summary: String
  let options: [Option]
  /// What a shell offers for operands.
  let operands: CompletedWords
  let sections: [Section]
}

/// What a shell offers when a word of a command line is begun.
enum CompletedWords: Sendable {
  case nothing
  case files
  case directories
  /// One of these words, with or without their meanings.
  case words([(word: String, meaning: String)])
  /// The names of known devices, and these words.
  case peers(or: [String])
  /// One of these commands, and after those that take one the name of a known device.
  case peerCommands([(word: String, meaning: String, takesPeer: Bool)])
}

extension CommandDescription.Argument {
  /// As the help shows it after the option.
  var text: String {
    switch self {
    case .none: ""
    case .required(let name): "=\(name)"
    case .optional(let name): "[=\(name)]"
    }
  }

  var name: String? {
    switch self {
    case .none: nil
    case .required(let name), .optional(let name): name
    }
  }

  /// What a shell offers, by the name of the argument: files for `FILE`, directories for `DIR`, and from choices those
  /// that are literal words, not placeholders in capitals; for `NAME|PEER|all` names of known devices, too.
  var words: CompletedWords {
    switch name {
    case nil: return .nothing
    case "FILE": return .files
    case "DIR": return .directories
    case let name?:
      let choices = name.split(separator: "|").map(String.init)
      let hasPeers = choices.contains("NAME") && choices.contains("PEER")
      let words = choices.filter {
        $0.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || Self.isDigit($0) }
      }
      if hasPeers { return .peers(or: words) }
      return words.isEmpty ? .nothing : .words(words.map { ($0, "") })
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
}

extension OptionTable {
  /// Everything that the table says.
  var described: CommandDescription {
    CommandDescription(
      program: program, usage: usage, summary: summary, options: options.map(\.described), operands: operandWords,
      sections: sections)
  }

  /// The text of `--help`.
  func helpText() -> String { described.helpText() }
}

extension Option {
  fileprivate var described: CommandDescription.Option {
    let argument: CommandDescription.Argument =
      switch action {
      case .value(let name, _): .required(name)
      case .optional(let name, _, _): .optional(name)
      case .flag, .help, .version: .none
      }
    return CommandDescription.Option(
      long: long, short: short, isRepeatable: repeatable, help: help, argument: argument)
  }
}
