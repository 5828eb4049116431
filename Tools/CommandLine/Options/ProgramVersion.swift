/// What `--version` prints.
enum ProgramVersion {
  /// Semantic version of the tools.
  static let number = "0.1.0"

  static func text(program: String) -> String {
    """
    \(program) (Piconet) \(number)
    License Apache-2.0: <https://www.apache.org/licenses/LICENSE-2.0>
    There is NO WARRANTY, to the extent permitted by law.

    """
  }
}
