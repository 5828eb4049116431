import PiconetTerminal

extension StandardStream {
  /// The run's exit code, given how the files went: a full disk under standard output is a failure of its own, a reader
  /// that has had enough is not.
  func exitCode(after files: ExitCode) -> ExitCode {
    if case .system = failure { .worst([files, .localFile]) } else { files }
  }

  /// Says on standard error that not everything was written, if that is a failure.
  func complain(as program: String, to error: inout StandardStream) {
    if case .system(let code) = failure { error.write("\(program): standard output: \(ErrorNumber.text(code))\n") }
  }
}
