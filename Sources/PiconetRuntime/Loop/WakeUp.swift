import CPiconetSystem
import Glibc
import Synchronization

/// Wakes a loop that sleeps in epoll, from any thread: an eventfd that is written only if the loop sleeps, and only
/// once.
///
/// It is registered edge-triggered, so the loop never has to read it. No wake-up is lost as long as the loop looks at
/// its inbox between `willSleep` and sleeping, and producers call `wake` after they have put something into that inbox,
/// with the inbox's lock between the two.
final class WakeUp: Sendable {
  let descriptor: Int32
  private let state = Atomic<UInt8>(WakeUp.awake)
  /// How many writes were promised since the start; only the loop's thread counts them.
  private let promised = Atomic<UInt64>(0)

  private static let awake: UInt8 = 0
  private static let asleep: UInt8 = 1
  private static let woken: UInt8 = 2

  init() throws(SystemError) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    if descriptor < 0 { throw SystemError("eventfd", errno) }
  }

  /// Any thread calls it after putting something into the loop's inbox.
  func wake() {
    guard state.load(ordering: .acquiring) == Self.asleep else { return }
    let (exchanged, _) = state.compareExchange(
      expected: Self.asleep, desired: Self.woken, ordering: .acquiringAndReleasing)
    guard exchanged else { return }
    var one: UInt64 = 1
    // Can't fail: the counter never comes near its limit, and `close` waits for this write.
    _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
  }

  /// The loop calls it before it looks at its inbox for the last time.
  func willSleep() { state.store(Self.asleep, ordering: .sequentiallyConsistent) }

  /// The loop calls it after sleeping.
  func didSleep() {
    if state.exchange(Self.awake, ordering: .acquiringAndReleasing) == Self.woken {
      promised.add(1, ordering: .relaxed)
    }
  }

  /// The loop calls it at its end. Waits for promised writes, since the descriptor's number may belong to something
  /// else as soon as it is closed.
  func close() {
    var owed = promised.load(ordering: .relaxed)
    while owed > 0 {
      var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = Glibc.poll(&poll, 1, -1)
      var count: UInt64 = 0
      if read(descriptor, &count, MemoryLayout<UInt64>.size) > 0 { owed -= min(owed, count) }
    }
    _ = Glibc.close(descriptor)
  }
}
