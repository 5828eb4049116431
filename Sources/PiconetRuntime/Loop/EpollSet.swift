import CPiconetSystem
import Glibc
import PiconetEngine

/// An epoll descriptor and room for one batch of its events. Level-triggered.
final class EpollSet {
  /// The most events in one batch.
  static let capacity = 256
  /// The token of the loop's own wake-up; no watch uses it.
  static let wakeUpToken: UInt64 = 0

  /// The token of the alarm.
  private static let alarmToken: UInt64 = .max

  private let descriptor: Int32
  /// A timerfd that ends a long sleep. It stays set while the first deadline stays the same: with epoll's own timeout
  /// the kernel would set and clear a timer for every message.
  private let alarm: Int32
  private var alarmTime: Instant?
  private let events: UnsafeMutablePointer<epoll_event>
  private var isClosed = false

  init(wakeUp: Int32) throws(SystemError) {
    descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    if descriptor < 0 { throw SystemError("epoll_create1", errno) }
    alarm = piconet_alarm_new()
    let alarmError = errno
    events = .allocate(capacity: Self.capacity)
    events.initialize(repeating: epoll_event(), count: Self.capacity)
    if alarm < 0 {
      close()
      throw SystemError("timerfd_create", alarmError)
    }
    var alarmEvent = epoll_event(
      events: EPOLLIN.rawValue | EPOLLET.rawValue, data: epoll_data_t(u64: Self.alarmToken))
    var event = epoll_event(
      events: EPOLLIN.rawValue | EPOLLET.rawValue, data: epoll_data_t(u64: Self.wakeUpToken))
    if epoll_ctl(descriptor, EPOLL_CTL_ADD, wakeUp, &event) != 0
      || epoll_ctl(descriptor, EPOLL_CTL_ADD, alarm, &alarmEvent) != 0
    {
      let error = errno
      close()
      throw SystemError("epoll_ctl", error)
    }
  }

  deinit {
    close()
    events.deallocate()
  }

  func close() {
    if isClosed { return }
    isClosed = true
    _ = Glibc.close(descriptor)
    if alarm >= 0 { _ = Glibc.close(alarm) }
  }

  func add(_ watched: Int32, _ interest: Readiness, token: UInt64) throws(SystemError) {
    if control(EPOLL_CTL_ADD, watched, interest, token) != 0 { throw SystemError("epoll_ctl", errno) }
  }

  /// Changes the interest. Can only fail if the owner closed the descriptor under its watch.
  func modify(_ watched: Int32, _ interest: Readiness, token: UInt64) {
    let result = control(EPOLL_CTL_MOD, watched, interest, token)
    assert(isClosed || result == 0, "descriptor \(watched) was closed before its watch was cancelled")
  }

  func remove(_ watched: Int32) { _ = control(EPOLL_CTL_DEL, watched, [], 0) }

  private func control(_ operation: Int32, _ watched: Int32, _ interest: Readiness, _ token: UInt64) -> Int32 {
    if isClosed {
      errno = EBADF
      return -1
    }
    var flags: UInt32 = 0
    if interest.contains(.read) { flags |= EPOLLIN.rawValue }
    if interest.contains(.write) { flags |= EPOLLOUT.rawValue }
    // Errors and hang-ups are reported even if nothing is wanted: edge-triggered, that is one event, not one a round.
    if interest.isEmpty { flags = EPOLLET.rawValue }
    var event = epoll_event(events: flags, data: epoll_data_t(u64: token))
    return epoll_ctl(descriptor, operation, watched, &event)
  }

  /// Returns whether an alarm is set that goes off by then; it may have gone off already without `wait` having reported
  /// it.
  func hasAlarm(by deadline: Instant) -> Bool {
    guard let alarmTime else { return false }
    return alarmTime <= deadline
  }

  /// Sets the alarm that ends a sleep after `duration`, which is at `deadline`.
  func setAlarm(at deadline: Instant, in duration: Duration) {
    piconet_alarm_set(alarm, duration.wholeNanoseconds)
    alarmTime = deadline
  }

  /// Waits for events, or only polls. Ends at the latest with the alarm, which may have been set for a deadline that
  /// has moved on.
  /// - Returns: how many events there are.
  func wait(sleeps: Bool) -> Int {
    let count = Int(max(0, epoll_wait(descriptor, events, Int32(Self.capacity), sleeps ? -1 : 0)))
    for index in 0..<count where events[index].data.u64 == Self.alarmToken {
      alarmTime = nil
      events[index].data.u64 = Self.wakeUpToken
    }
    return count
  }

  /// Returns an event of the last batch: its token and readiness.
  func event(_ index: Int) -> (token: UInt64, readiness: Readiness, hasFailed: Bool) {
    let flags = events[index].events
    let failed = flags & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
    var readiness: Readiness = []
    if flags & EPOLLIN.rawValue != 0 { readiness.insert(.read) }
    if flags & EPOLLOUT.rawValue != 0 { readiness.insert(.write) }
    return (events[index].data.u64, readiness, failed)
  }
}
