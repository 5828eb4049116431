import CPiconetSystem
import Glibc
import Synchronization

/// SIGINT, SIGTERM and, where it is not ignored as under nohup(1), SIGHUP: the first cancels the program's work, which then ends in good order; the second ends the process at
/// once.
final class Interruption: Sendable {
  private let signal = Mutex<Int32?>(nil)

  /// What came, if anything did.
  var received: Int32? { signal.withLock { $0 } }

  private static var watched: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGINT)
    sigaddset(&set, SIGTERM)
    if heedsHangUp { sigaddset(&set, SIGHUP) }
    return set
  }

  /// The terminal's end. What is ignored has to be left out: while it is blocked, Linux keeps an ignored signal for sigwait(3).
  private static let heedsHangUp: Bool = {
    var action = sigaction()
    guard sigaction(SIGHUP, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self)
  }()

  /// Keeps the signals for `watch`; to be called before any other thread is made, since threads inherit it.
  static func block() {
    var set = watched
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Waits for the signals on a thread of its own, as long as the process lives.
  func watch(_ cancel: @escaping @Sendable () -> Void) {
    Task {
      await onItsOwnThread { [self] in
        var set = Self.watched
        while true {
          var number: Int32 = 0
          guard sigwait(&set, &number) == 0 else { continue }
          let isFirst = signal.withLock { signal in
            defer { signal = signal ?? number }
            return signal == nil
          }
          guard isFirst else { Self.end(by: number) }
          cancel()
        }
      }
    }
  }

  /// Ends the process by the signal, as if nobody had handled it: so the shell that waits for it knows, and a loop in a script
  /// ends too.
  static func end(by number: Int32) -> Never {
    piconet_terminal_restore()
    Glibc.signal(number, SIG_DFL)
    var set = watched
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    kill(getpid(), number)
    // Not reached: the signal is not blocked and not ignored.
    _exit(128 + number)
  }
}
