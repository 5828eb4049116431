import Glibc
import Testing

@testable import PiconetCommandLine
@testable import PiconetTerminal

@Suite("The start of a program")
struct StartTests {
  /// What the program would do, and what it says on standard output and standard error.
  private func start(_ words: String...) -> (code: ExitCode?, output: String, error: String) {
    var (output, error): ([Int32], [Int32]) = ([0, 0], [0, 0])
    guard pipe(&output) == 0, pipe(&error) == 0 else { return (nil, "", "") }
    var streams = (output: StandardStream(descriptor: output[1]), error: StandardStream(descriptor: error[1]))
    let start = imagesendOptions.start(
      initial: ImageSendArguments(), words: words.map { Array($0.utf8) }, posixlyCorrect: false,
      output: &streams.output, error: &streams.error)
    func text(_ ends: [Int32]) -> String {
      close(ends[1])
      defer { close(ends[0]) }
      var buffer = [UInt8](repeating: 0, count: 16_384)
      let count = read(ends[0], &buffer, buffer.count)
      return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
    let code: ExitCode? = if case .end(let code) = start { code } else { nil }
    return (code, text(output), text(error))
  }

  @Test("help goes to standard output and ends with 0")
  func help() { #expect(start("--help") == (.stored, imagesendOptions.helpText(), "")) }

  @Test("a usage error goes to standard error and ends with 2")
  func usage() {
    let text = "imagesend: missing file operand\nTry 'imagesend --help' for more information.\n"
    #expect(start("--json") == (.usage, "", text))
  }

  @Test("a good command line says nothing")
  func good() { #expect(start("a.jpg") == (nil, "", "")) }

  @Test("this process's own arguments are read")
  func own() { #expect(ProcessArguments.words.count == Int(CommandLine.argc) - 1) }
}
