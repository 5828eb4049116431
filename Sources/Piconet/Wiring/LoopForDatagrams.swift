import PiconetEngine
import PiconetIP
import PiconetRuntime

/// The event loop as discovery wants it.
final class LoopForDatagrams: DatagramLoop {
  private let loop: EventLoop

  init(_ loop: EventLoop) { self.loop = loop }

  var now: Instant { loop.now }

  func watch(
    _ descriptor: Int32, _ readable: @escaping () -> Void
  ) throws(LinkFailure) -> any DatagramLoopRegistration {
    let handler = ReadHandler(readable)
    do throws(SystemError) {
      handler.watch = try loop.watch(descriptor, for: .read, handler: handler)
    } catch {
      throw LinkFailure(.other, "\(error)")
    }
    return handler
  }

  func setTimer(at deadline: Instant, _ fire: @escaping () -> Void) -> any DatagramLoopRegistration {
    Timer(loop: loop, at: deadline, fire)
  }

  private final class ReadHandler: DescriptorHandler, DatagramLoopRegistration {
    private let readable: () -> Void
    var watch: DescriptorWatch?

    init(_ readable: @escaping () -> Void) { self.readable = readable }

    func descriptorIsReady(_ readiness: Readiness) { readable() }

    func cancel() {
      watch?.cancel()
      watch = nil
    }
  }

  private final class Timer: DatagramLoopRegistration {
    private let timer: LoopTimer

    init(loop: EventLoop, at deadline: Instant, _ fire: @escaping () -> Void) {
      timer = LoopTimer(loop: loop, handler: fire)
      timer.set(deadline)
    }

    func cancel() { timer.set(nil) }
  }
}
