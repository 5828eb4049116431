import Glibc
import Piconet

/// What `--code` and `--code-file` say about the code that one device shows and that is typed on the other.
enum CodeOption: Hashable, Sendable {
  /// The listening side makes a new one and shows it; the dialling side asks for it.
  case open
  case given(TypedCode)
  case file(LocalPath)

  /// The form of a code, for help and errors.
  static let form = "6 to 16 digits"
  /// A longer file can't hold a code.
  private static let longestFile = 256

  static func given(_ argument: OptionArgument) throws(UnacceptableValue) -> CodeOption {
    guard let code = TypedCode(argument.text) else { throw .because("a code is \(form)") }
    return .given(code)
  }

  /// Whether a word after `--code` is its code and not the next operand: a file with such a name must be given as
  /// `./123456`.
  static func isCode(_ word: [UInt8]) -> Bool {
    TypedCode(String(decoding: word, as: UTF8.self)) != nil
  }

  /// The code in a file, alone on its first line.
  static func code(in path: LocalPath) throws(TransferFailure) -> TypedCode {
    let descriptor = path.withCString { Glibc.open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard descriptor >= 0 else { throw unreadable(path, ErrorNumber.text(errno)) }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: longestFile)
    var count = 0
    while count < bytes.count {
      let got = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress.map { $0 + count }, $0.count - count) }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw unreadable(path, ErrorNumber.text(errno)) }
      if got == 0 { break }
      count += got
    }
    let line = bytes[..<count].prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    guard let code = TypedCode(String(decoding: line, as: UTF8.self)) else {
      throw TransferFailure(
        word: "code-file", message: "\(path.readable): its first line is no code of \(form)", exitCode: .usage)
    }
    return code
  }

  private static func unreadable(_ path: LocalPath, _ why: String) -> TransferFailure {
    TransferFailure(word: "code-file", message: "\(path.readable): \(why)", exitCode: .localFile)
  }
}

/// The options of each program that knows codes.
protocol CodeArguments {
  var code: CodeOption? { get set }
}

func codeOptions<Arguments: CodeArguments & Sendable>(_ help: String, file: String) -> [Option<Arguments>] {
  [
    Option(
      "code", help: help,
      .optional(name: "DIGITS", isValue: CodeOption.isCode) { (arguments, value) throws(UnacceptableValue) in
        guard let value else {
          arguments.code = .open
          return
        }
        arguments.code = try CodeOption.given(value)
      }),
    Option(
      "code-file", help: file,
      .value(name: "FILE") { (arguments, value) throws(UnacceptableValue) in
        arguments.code = .file(try OptionText.path(value))
      }),
  ]
}
