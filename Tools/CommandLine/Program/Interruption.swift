import CPiconetSystem
import Glibc
import PiconetTerminal
import Synchronization

/// SIGINT, SIGTERM and, unless it is ignored as under nohup(1), SIGHUP. The first signal cancels the program's work,
/// which then ends in good order. The second ends the process at once, except SIGHUP: a terminal that is closed sends
/// one and its shell another. Also SIGCONT, after which the person sees the shell's lines.
final class Interruption: Sendable {
  private let signal = Mutex<Int32?>(nil)

  /// The signal that came, if any.
  var received: Int32? { signal.withLock { $0 } }

  private static var watched: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGINT)
    sigaddset(&set, SIGTERM)
    // SIGHUP is the terminal's end. An ignored signal must be left out: while it is blocked, Linux keeps it for
    // sigwait(3).
    if piconet_signal_is_ignored(SIGHUP) == 0 { sigaddset(&set, SIGHUP) }
    // The process still goes on.
    sigaddset(&set, SIGCONT)
    return set
  }

  /// Keeps the signals for `wait`. Call it before any other thread is made, since threads inherit the mask.
  ///
  /// Not inlined: the optimizer of Swift 6.3.1 crashes (in SimplifyCFG, release builds) on the condition inside
  /// `ProgramStart.main`.
  @inline(never)
  static func block() {
    var set = watched
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Waits for the signals on the calling thread, as long as the process lives.
  /// - Parameter goesOn: called when the process was stopped and goes on.
  func wait(goesOn: () -> Void = {}, _ cancel: () -> Void) -> Never {
    var set = Self.watched
    while true {
      var number: Int32 = 0
      guard sigwait(&set, &number) == 0 else { continue }
      if number == SIGCONT {
        goesOn()
        continue
      }
      let isFirst = signal.withLock { signal in
        defer { signal = signal ?? number }
        return signal == nil
      }
      guard isFirst || number == SIGHUP else { Self.end(by: number) }
      cancel()
    }
  }

  /// Sends SIGHUP, and waits until it cancels the task. A program that reads from a terminal may see that it was closed
  /// before SIGHUP comes, or although none comes, since a shell keeps it to itself. The program then ends by the
  /// signal, and not by treating the question as unanswered. Returns at once if the signal is ignored.
  static func hangUp() async {
    guard piconet_signal_is_ignored(SIGHUP) == 0 else { return }
    kill(getpid(), SIGHUP)
    while !Task.isCancelled { try? await ContinuousClock().sleep(for: .seconds(3600)) }
  }

  /// Ends the process by the signal, as if it had not been handled: so the waiting shell knows, and a loop in a script
  /// ends, too.
  static func end(by number: Int32) -> Never {
    piconet_terminal_restore()
    Glibc.signal(number, SIG_DFL)
    var set = watched
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    // It goes to this thread: a signal sent to the process might be taken by `wait`, which waits for it.
    raise(number)
    // Not reached: the signal is not blocked and not ignored.
    _exit(128 + number)
  }
}
