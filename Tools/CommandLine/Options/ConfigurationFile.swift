import Glibc
import PiconetTerminal

/// The settings that a person makes once: a file of a program's options, a line each, which are read before the command
/// line.
///
///     # imagerecv.conf
///     name = Living room
///     directory = ~/Pictures
///     any
///
/// The names are those of the long options. A line that begins with `#` is a comment.
struct ConfigurationFile: Sendable {
  let path: LocalPath
  let home: String

  /// A longer file is refused.
  static let byteLimit = 65_536

  /// `$XDG_CONFIG_HOME/piconet/PROGRAM.conf`, by default in `~/.config`; nil if there is no home.
  /// - Parameter variable: a variable of the environment.
  init?(program: String, variable: (String) -> String?) {
    guard let home = variable("HOME"), home.hasPrefix("/") else { return nil }
    // A relative path in it counts as none (XDG Base Directory Specification 0.8).
    let folder = variable("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.config"
    self.init(path: LocalPath("\(folder)/piconet/\(program).conf"), home: home)
  }

  init(path: LocalPath, home: String) { (self.path, self.home) = (path, home) }

  /// Returns the arguments with the file's settings.
  /// - Parameter initial: the arguments without the file.
  func read<Arguments>(
    into initial: Arguments, table: OptionTable<Arguments>
  ) throws(UsageError) -> Arguments {
    guard let bytes = try content() else { return initial }
    var arguments = initial
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() {
      do throws(UsageError) {
        try read(Self.trimmed(line), into: &arguments, table: table)
      } catch {
        throw UsageError("\(displaySafe(path.readable)):\(number + 1): \(error.message)")
      }
    }
    return arguments
  }

  private func read<Arguments>(
    _ line: ArraySlice<UInt8>, into arguments: inout Arguments, table: OptionTable<Arguments>
  ) throws(UsageError) {
    guard let first = line.first, first != UInt8(ascii: "#") else { return }
    let equals = line.firstIndex(of: UInt8(ascii: "="))
    let name = Self.trimmed(line[..<(equals ?? line.endIndex)])
    let option = String(decoding: name, as: UTF8.self)
    guard table.options.contains(where: { $0.long == option }), !table.onlyOnCommandLine.contains(option) else {
      let nearest = NearestWord.to(
        option, of: table.options.map(\.long).filter { !table.onlyOnCommandLine.contains($0) })
      throw UsageError("'\(displaySafe(option))' is no option that can stand here\(NearestWord.question(nearest))")
    }
    var word = [UInt8]("--".utf8) + name
    if let equals {
      var value = Array(Self.trimmed(line[(equals + 1)...]))
      // No shell has expanded it.
      if value.starts(with: "~/".utf8) { value = Array(home.utf8) + value.dropFirst() }
      word += [UInt8(ascii: "=")] + value
    }
    var table = table
    table.check = nil
    table.operands = .none
    guard
      case .run(let read) = try OptionParser.parse([word], table: table, initial: arguments, posixlyCorrect: true)
    else { return }
    arguments = read
  }

  /// nil: there is no such file.
  private func content() throws(UsageError) -> [UInt8]? {
    let bytes: [UInt8]
    do throws(SystemFailure) {
      bytes = try SystemFile.bytes(path, atMost: Self.byteLimit + 1)
    } catch {
      if error.number == ENOENT || error.number == ENOTDIR { return nil }
      throw UsageError("\(displaySafe(path.readable)): \(ErrorNumber.text(error.number))")
    }
    guard bytes.count <= Self.byteLimit else {
      throw UsageError("\(displaySafe(path.readable)): longer than \(Self.byteLimit) bytes")
    }
    return bytes
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let blanks: Set<UInt8> = [0x20, 0x09, 0x0D]
    var rest = bytes.drop { blanks.contains($0) }
    while let last = rest.last, blanks.contains(last) { rest.removeLast() }
    return rest
  }
}
