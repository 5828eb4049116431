/// What `--version` prints, with the licence of the binary: BlueZ's library is under the GPL, and so is a program that
/// has it.
enum ProgramVersion {
  /// Semantic version of the tools.
  static let number = "0.1.0"

  #if Bluetooth
    static let licence = """
      License GPL-3.0-or-later: <https://www.gnu.org/licenses/gpl-3.0.html>
      It contains BlueZ's library; Piconet's own sources are under Apache-2.0.
      """
  #else
    static let licence = "License Apache-2.0: <https://www.apache.org/licenses/LICENSE-2.0>"
  #endif

  static func text(program: String) -> String {
    """
    \(program) (Piconet) \(number)
    \(licence)
    There is NO WARRANTY, to the extent permitted by law.

    """
  }
}
