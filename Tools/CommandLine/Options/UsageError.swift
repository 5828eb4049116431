/// A command line that was not understood. `message` is worded as GNU getopt_long and argmatch word theirs, without the
/// program's name; it may have several lines.
struct UsageError: Error, Equatable {
  let message: String

  init(_ message: String) { self.message = message }

  /// What goes to standard error, with the line that shows the way out.
  func text(program: String) -> String {
    "\(program): \(message)\nTry '\(program) --help' for more information.\n"
  }
}
