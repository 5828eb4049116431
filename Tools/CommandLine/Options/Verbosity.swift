/// How much is said on standard error.
struct Verbosity: Hashable, Sendable {
  /// Errors only; no progress.
  var isQuiet = false
  /// How often `-v` was given.
  var detail = 0
}
