import Glibc

/// A terminal's two ends: the program's, and that of the person who sees and types.
package final class PseudoTerminal: @unchecked Sendable {
  // Unchecked: both descriptors are constants, and the test awaits each call before the next, so `shown` has one user
  // at a time.
  package let person: Int32
  package let program: Int32
  package private(set) var shown = ""

  // ioctl_tty(2): TIOCSPTLCK and TIOCGPTN, which Swift does not import, nor posix_openpt(3).
  private static let setLock: UInt = 0x4004_5431
  private static let getNumber: UInt = 0x8004_5430

  package init?(columns: UInt16 = 80, rows: UInt16 = 24) {
    person = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var unlocked: Int32 = 0
    var number: Int32 = 0
    guard person >= 0, ioctl(person, Self.setLock, &unlocked) == 0, ioctl(person, Self.getNumber, &number) == 0
    else { return nil }
    program = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    // A struct winsize, whose members belong to another module in some orders of compiling.
    var size = [rows, columns, 0, 0]
    guard program >= 0, ioctl(person, UInt(TIOCSWINSZ), &size) == 0 else { return nil }
  }

  deinit {
    close(program)
    close(person)
  }

  /// Acts as a window does when its size changes.
  package func resize(columns: UInt16, rows: UInt16) {
    var size = [rows, columns, 0, 0]
    _ = ioctl(person, UInt(TIOCSWINSZ), &size)
  }

  package func type(_ keys: String) { _ = keys.withCString { write(person, $0, strlen($0)) } }

  /// Reads until `text` was shown; false if that takes more than two minutes.
  package func waits(for text: String) -> Bool {
    let deadline = ContinuousClock.now + .seconds(120)
    while !shown.contains(text) {
      guard ContinuousClock.now < deadline else { return false }
      readWhatIsThere(milliseconds: 100)
    }
    return true
  }

  /// Reads until nothing more comes.
  package func readAll() { while readWhatIsThere(milliseconds: 0) {} }

  /// Forgets what was shown.
  package func forget() { shown = "" }

  /// The terminal's flags that raw mode changes.
  package var flags: [tcflag_t] {
    var state = termios()
    guard tcgetattr(program, &state) == 0 else { return [] }
    return [state.c_iflag, state.c_oflag, state.c_lflag]
  }

  @discardableResult
  private func readWhatIsThere(milliseconds: Int32) -> Bool {
    var entry = pollfd(fd: person, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, milliseconds) == 1 else { return false }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(person, &buffer, buffer.count)
    guard count > 0 else { return false }
    shown += String(decoding: buffer.prefix(count), as: UTF8.self)
    return true
  }
}
