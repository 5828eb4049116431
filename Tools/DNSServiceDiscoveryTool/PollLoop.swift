import Glibc
import PiconetEngine
import PiconetIP
import PiconetRuntime

/// A small event loop over poll(2), of one thread, with a timer list: all that this tool needs.
final class PollLoop: DatagramLoop {
  private final class Registration: DatagramLoopRegistration {
    let cancellation: () -> Void
    init(_ cancellation: @escaping () -> Void) { self.cancellation = cancellation }
    func cancel() { cancellation() }
  }

  private struct Handler {
    weak var value: (any DescriptorHandler)?
  }

  private var nextNumber = 0
  private var descriptors: [Int: (descriptor: Int32, handler: Handler)] = [:]
  private var timers: [Int: (deadline: Instant, fire: () -> Void)] = [:]

  var now: Instant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }

  func watch(_ descriptor: Int32, for handler: any DescriptorHandler) -> any DatagramLoopRegistration {
    nextNumber += 1
    let number = nextNumber
    descriptors[number] = (descriptor, Handler(value: handler))
    return Registration { [weak self] in self?.descriptors[number] = nil }
  }

  func setTimer(at deadline: Instant, _ fire: @escaping () -> Void) -> any DatagramLoopRegistration {
    nextNumber += 1
    let number = nextNumber
    timers[number] = (deadline, fire)
    return Registration { [weak self] in self?.timers[number] = nil }
  }

  /// Waits at most 100 ms, then calls what is ready.
  func turn() {
    let time = now
    let next = timers.values.map(\.deadline).min()
    let wait = next.map { max(0, ($0 - time).wholeNanoseconds) } ?? .max
    // Rounded up: waking early would spin.
    let milliseconds = Int32(min(100, wait / 1_000_000 + (wait % 1_000_000 > 0 ? 1 : 0)))
    let watched = descriptors.sorted { $0.key < $1.key }
    var entries = watched.map { pollfd(fd: $0.value.descriptor, events: Int16(POLLIN), revents: 0) }
    _ = poll(&entries, nfds_t(entries.count), milliseconds)
    for (index, entry) in entries.enumerated() where entry.revents != 0 {
      descriptors[watched[index].key]?.handler.value?.descriptorIsReady(.read)
    }
    let after = now
    for (number, timer) in timers.sorted(by: { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) })
    where timer.deadline <= after {
      timers[number] = nil
      timer.fire()
    }
  }
}
