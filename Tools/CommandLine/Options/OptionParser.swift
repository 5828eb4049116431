import PiconetTerminal

/// Parses a command line by the conventions of getopt_long(3).
///
/// Long options may be abbreviated as long as the abbreviation is unambiguous; arguments follow as `--name=value`,
/// `--name value`, `-oVALUE` or `-o VALUE`; short flags may be bundled; `--` ends the options. Operands may come
/// between options unless POSIXLY_CORRECT is set, in which case the first operand ends the options.
struct OptionParser<Arguments: Sendable> {
  private let table: OptionTable<Arguments>
  private let posixlyCorrect: Bool
  private var pending: ArraySlice<[UInt8]>
  private var result: Arguments
  private var operandCount = 0

  private init(table: OptionTable<Arguments>, words: [[UInt8]], initial: Arguments, posixlyCorrect: Bool) {
    self.table = table
    self.posixlyCorrect = posixlyCorrect
    self.pending = words[...]
    self.result = initial
  }

  /// - Parameters:
  ///   - words: the command line without the program's name.
  ///   - initial: the arguments if no option is given.
  ///   - posixlyCorrect: whether POSIXLY_CORRECT is in the environment.
  static func parse(
    _ words: [[UInt8]], table: OptionTable<Arguments>, initial: Arguments, posixlyCorrect: Bool
  ) throws(UsageError) -> Invocation<Arguments> {
    var parser = OptionParser(table: table, words: words, initial: initial, posixlyCorrect: posixlyCorrect)
    return try parser.run()
  }

  private mutating func run() throws(UsageError) -> Invocation<Arguments> {
    var optionsEnded = false
    while let word = pending.popFirst() {
      if optionsEnded || word.first != Self.dash || word.count == 1 {
        try take(operand: word)
        if posixlyCorrect { optionsEnded = true }
      } else if word == [Self.dash, Self.dash] {
        optionsEnded = true
      } else if word[1] == Self.dash {
        if let output = try takeLong(Array(word.dropFirst(2))) { return .print(output) }
      } else if let output = try takeShort(word.dropFirst()) {
        return .print(output)
      }
    }
    if case .required(let what, _) = table.operands, operandCount == 0 {
      throw UsageError("missing \(what) operand")
    }
    try table.check?(result)
    return .run(result)
  }

  private mutating func take(operand: [UInt8]) throws(UsageError) {
    operandCount += 1
    switch table.operands {
    case .required(_, let store): store(&result, LocalPath(bytes: operand))
    case .any(let store): try store(&result, LocalPath(bytes: operand))
    case .optional(let store) where operandCount == 1: try store(&result, OptionArgument(bytes: operand))
    case .optional, .none: throw UsageError("extra operand '\(quotable(operand))'")
    }
  }

  /// `written` is what follows the two dashes, with its `=value`, as getopt_long shows it.
  private mutating func takeLong(_ written: [UInt8]) throws(UsageError) -> String? {
    let equals = written.firstIndex(of: UInt8(ascii: "="))
    let name = String(decoding: written[..<(equals ?? written.endIndex)], as: UTF8.self)
    let candidates = table.options.filter { $0.long.hasPrefix(name) }
    let option: Option<Arguments>
    if let exact = candidates.first(where: { $0.long == name }) {
      option = exact
    } else if candidates.count > 1 {
      let possibilities = candidates.map { " '--\($0.long)'" }.joined()
      throw UsageError("option '--\(quotable(written))' is ambiguous; possibilities:\(possibilities)")
    } else if let only = candidates.first {
      option = only
    } else {
      let nearest = NearestWord.to(name, of: table.options.map(\.long)).map { "--\($0)" }
      throw UsageError("unrecognized option '--\(quotable(written))'\(NearestWord.question(nearest))")
    }

    let attached = equals.map { Array(written[($0 + 1)...]) }
    switch option.action {
    case .value(_, let store):
      guard let value = attached ?? pending.popFirst() else {
        throw UsageError("option '--\(option.long)' requires an argument")
      }
      try apply(store, value, as: "--\(option.long)")
      return nil
    case .optional(_, let isValue, let store):
      var value = attached
      if value == nil, let next = pending.first, isValue(next) { value = pending.popFirst() }
      try applyIfGiven(store, value, as: "--\(option.long)")
      return nil
    case .flag, .help, .version:
      guard attached == nil else { throw UsageError("option '--\(option.long)' doesn't allow an argument") }
      return perform(option)
    }
  }

  /// `bundle` is what follows the dash.
  private mutating func takeShort(_ bundle: ArraySlice<UInt8>) throws(UsageError) -> String? {
    // A letter that is not ASCII is shown whole, so the bundle is read character by character.
    var rest = bundle
    while let byte = rest.popFirst() {
      guard byte < 0x80, let option = table.options.first(where: { $0.short?.asciiValue == byte }) else {
        let letter = String(decoding: [byte] + rest, as: UTF8.self).first.map(String.init) ?? ""
        throw UsageError("invalid option -- '\(displaySafe(letter))'\(NearestWord.question(long(of: bundle)))")
      }
      let letter = Character(Unicode.Scalar(byte))
      switch option.action {
      case .value(_, let store):
        guard let value = rest.isEmpty ? pending.popFirst() : Array(rest) else {
          throw UsageError("option requires an argument -- '\(letter)'")
        }
        try apply(store, value, as: "-\(letter)")
        return nil
      case .optional(_, let isValue, let store):
        try applyIfGiven(store, takeValue(attached: &rest, isValue), as: "-\(letter)")
      case .flag, .help, .version:
        if let output = perform(option) { return output }
      }
    }
    return nil
  }

  /// The argument of a letter that need not have one: the rest of its bundle, or the next word if that is one.
  private mutating func takeValue(
    attached rest: inout ArraySlice<UInt8>, _ isValue: ([UInt8]) -> Bool
  ) -> [UInt8]? {
    if rest.isEmpty { return pending.first.map(isValue) == true ? pending.popFirst() : nil }
    guard isValue(Array(rest)) else { return nil }
    defer { rest = [] }
    return Array(rest)
  }

  /// The long option that was written after a single dash, as in other programs.
  private func long(of bundle: ArraySlice<UInt8>) -> String? {
    let name = String(decoding: bundle.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
    return table.options.contains { $0.long == name } ? "--\(name)" : nil
  }

  private mutating func perform(_ option: Option<Arguments>) -> String? {
    switch option.action {
    case .flag(let store): store(&result)
    case .value, .optional: break  // Its argument was applied by the caller.
    case .help: return table.helpText()
    case .version: return ProgramVersion.text(program: table.program)
    }
    return nil
  }

  private mutating func apply(
    _ store: @Sendable (inout Arguments, OptionArgument) throws(UnacceptableValue) -> Void, _ value: [UInt8],
    as name: String
  ) throws(UsageError) {
    try applyIfGiven(
      { (arguments, given) throws(UnacceptableValue) in if let given { try store(&arguments, given) } }, value, as: name
    )
  }

  private mutating func applyIfGiven(
    _ store: (inout Arguments, OptionArgument?) throws(UnacceptableValue) -> Void, _ value: [UInt8]?, as name: String
  ) throws(UsageError) {
    do throws(UnacceptableValue) {
      try store(&result, value.map { OptionArgument(bytes: $0) })
    } catch {
      let value = value ?? []
      let start = "invalid argument '\(quotable(value))' for '\(name)'"
      switch error {
      case .because(let reason): throw UsageError("\(start): \(reason)")
      case .notOneOf(let words):
        throw UsageError("\(start)\nValid arguments are:\n" + words.map { "  - '\($0)'" }.joined(separator: "\n"))
      }
    }
  }

  private func quotable(_ bytes: [UInt8]) -> String { displaySafe(String(decoding: bytes, as: UTF8.self)) }

  private static var dash: UInt8 { UInt8(ascii: "-") }
}
