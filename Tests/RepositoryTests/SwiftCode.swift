/// Just enough of Swift's lexical structure to tell code from comments and strings.
enum SwiftCode {
  /// The lines of `text`; comments and the insides of string literals, including interpolations, are blank.
  static func withoutCommentsAndStrings(_ text: String) -> [String] {
    var scanner = Scanner(characters: Array(text))
    while scanner.step() {}
    return scanner.kept.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  private struct Scanner {
    let characters: [Character]
    var position = 0
    var kept = ""

    func sees(_ word: String) -> Bool {
      var index = position
      for character in word {
        guard index < characters.count, characters[index] == character else { return false }
        index += 1
      }
      return true
    }

    /// Goes on by one character, keeping only line ends.
    mutating func skip(_ count: Int = 1) {
      for _ in 0..<count where position < characters.count {
        kept.append(characters[position] == "\n" ? "\n" : " ")
        position += 1
      }
    }

    mutating func step() -> Bool {
      guard position < characters.count else { return false }
      if sees("//") {
        while position < characters.count, characters[position] != "\n" { skip() }
      } else if sees("/*") {
        comment()
      } else if characters[position] == "\"" || (characters[position] == "#" && opensRawString) {
        string()
      } else {
        kept.append(characters[position])
        position += 1
      }
      return true
    }

    private mutating func comment() {
      var depth = 0
      repeat {
        if sees("/*") {
          depth += 1
          skip(2)
        } else if sees("*/") {
          depth -= 1
          skip(2)
        } else {
          skip()
        }
      } while depth > 0 && position < characters.count
    }

    private var opensRawString: Bool {
      var index = position
      while index < characters.count, characters[index] == "#" { index += 1 }
      return index < characters.count && characters[index] == "\""
    }

    private mutating func string() {
      var pounds = ""
      while sees("#") {
        pounds += "#"
        skip()
      }
      let quotes = sees("\"\"\"") ? "\"\"\"" : "\""
      skip(quotes.count)
      while position < characters.count, !sees(quotes + pounds) {
        if sees("\\" + pounds + "(") {
          interpolation(1 + pounds.count)
        } else if sees("\\" + pounds) {
          skip(2 + pounds.count)
        } else {
          skip()
        }
      }
      skip(quotes.count + pounds.count)
    }

    private mutating func interpolation(_ opening: Int) {
      skip(opening)
      var depth = 0
      repeat {
        if sees("\"") {
          string()
          continue
        }
        if sees("(") { depth += 1 }
        if sees(")") { depth -= 1 }
        skip()
      } while depth > 0 && position < characters.count
    }
  }
}
