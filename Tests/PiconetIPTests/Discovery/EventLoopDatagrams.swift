import PiconetEngine
import PiconetIP
import PiconetRuntime

/// The runtime's event loop as discovery needs it, without the module that connects the two; confined to that loop.
final class EventLoopDatagrams: DatagramLoop {
  private let loop: EventLoop

  init(_ loop: EventLoop) { self.loop = loop }

  var now: Instant { loop.now }

  func watch(
    _ descriptor: Int32, _ readable: @escaping () -> Void
  ) throws(LinkFailure) -> any DatagramLoopRegistration {
    let registration = WatchRegistration(readable)
    do throws(SystemError) {
      registration.watch = try loop.watch(descriptor, for: .read, handler: registration)
    } catch {
      throw LinkFailure(.other, error.description)
    }
    return registration
  }

  func setTimer(at deadline: Instant, _ fire: @escaping () -> Void) -> any DatagramLoopRegistration {
    let timer = LoopTimer(loop: loop, handler: fire)
    timer.set(deadline)
    return TimerRegistration(timer)
  }

  private final class WatchRegistration: DatagramLoopRegistration, DescriptorHandler {
    var watch: DescriptorWatch?
    private let readable: () -> Void
    init(_ readable: @escaping () -> Void) { self.readable = readable }
    func descriptorIsReady(_ readiness: Readiness) { readable() }
    func cancel() { watch?.cancel() }
  }

  private final class TimerRegistration: DatagramLoopRegistration {
    private let timer: LoopTimer
    init(_ timer: LoopTimer) { self.timer = timer }
    func cancel() { timer.set(nil) }
  }
}
