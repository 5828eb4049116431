import Glibc
import PiconetRuntime

/// Publishes or looks for peers by DNS-SD, by hand or from a test; one line of output per event.
@main struct Main {
  private static let usage = """
    usage: dnssd-tool [-i INTERFACE]... [-k DIGIT] advertise NAME PORT SESSION [KEY=VALUE]...
           dnssd-tool [-i INTERFACE]... browse SESSION SECONDS
    advertise runs until SIGINT or SIGTERM, and then says goodbye. SIGUSR1 adds `changed=yes` to what it tells. -k makes
    a fingerprint of one hexadecimal digit.
    """

  static func main() {
    var arguments = Array(CommandLine.arguments.dropFirst())
    var interfaces: Set<String>?
    while arguments.count >= 2, arguments[0] == "-i" {
      interfaces = (interfaces ?? []).union([arguments[1]])
      arguments.removeFirst(2)
    }
    var digit: UInt8?
    if arguments.count >= 2, arguments[0] == "-k" {
      digit = UInt8(arguments[1], radix: 16)
      arguments.removeFirst(2)
    }
    guard let errand = Errand(arguments) else { return fail(usage) }
    // Blocked in all threads, and taken by this one.
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGUSR1] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    do throws(SystemError) {
      let loop = try EventLoop(name: "dnssd-tool")
      let tool = Tool(loop: loop, digit: digit)
      loop.execute { [interfaces] in tool.start(errand, interfaces: interfaces) }
      wait(for: signals, until: .now + errand.duration) { loop.execute { tool.changeInfo() } }
      loop.execute { tool.close() }
      loop.stop()
    } catch {
      fail("\(error)")
    }
  }

  /// Until one of the signals ends it, or the time is over.
  private static func wait(
    for signals: sigset_t, until end: ContinuousClock.Instant, changed: () -> Void
  ) {
    var signals = signals
    while true {
      let left = end - .now
      guard left > .zero else { return }
      var time = timespec(tv_sec: Int(min(left.components.seconds, 3600)), tv_nsec: 100_000_000)
      switch sigtimedwait(&signals, nil, &time) {
      case SIGUSR1: changed()
      case SIGINT, SIGTERM: return
      default: break
      }
    }
  }

  private static func fail(_ words: String) {
    let bytes = Array((words + "\n").utf8)
    _ = write(2, bytes, bytes.count)
    exit(2)
  }
}
