import Glibc

/// A value that one thread at a time may touch, and a condition that threads can wait for (a monitor on a pthread
/// mutex).
///
/// Not `Synchronization.Mutex`: it has no condition, and the thread sanitizer reports false races for it when
/// contended.
@usableFromInline
struct Monitor<Value>: ~Copyable, @unchecked Sendable {
  // Sendable is right: the value is reached only through `withLock`, which holds the mutex.
  @usableFromInline let value: UnsafeMutablePointer<Value>
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let condition: UnsafeMutablePointer<pthread_cond_t>

  @usableFromInline
  init(_ initial: consuming Value) {
    value = .allocate(capacity: 1)
    value.initialize(to: initial)
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    condition = .allocate(capacity: 1)
    // Not the wall clock, which may be set.
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
    value.deinitialize(count: 1)
    value.deallocate()
  }

  /// Runs `body` alone. Not recursive: `body` must not lock the same monitor again.
  @inlinable @inline(__always)
  borrowing func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value.pointee)
  }

  /// Runs `body` alone; see above. For a value that `body` takes over: a closure can only copy its captures.
  @inlinable @inline(__always)
  borrowing func withLock<Moved, Result>(
    moving moved: consuming Moved, _ body: (inout Value, consuming Moved) -> Result
  ) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value.pointee, moved)
  }

  /// Waits, without holding the lock, until `holds` is true of the value; then runs `body` alone.
  borrowing func withLock<Result>(when holds: (Value) -> Bool, do body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !holds(value.pointee) { pthread_cond_wait(condition, mutex) }
    return body(&value.pointee)
  }

  /// Waits, without holding the lock, until `holds` is true of the value, or the time is over.
  /// - Returns: whether it is true.
  borrowing func wait(atMost time: Duration, until holds: (Value) -> Bool) -> Bool {
    var end = timespec()
    clock_gettime(CLOCK_MONOTONIC, &end)
    let nanoseconds = Int64(end.tv_nsec) + Int64(time / .nanoseconds(1))
    end.tv_sec += Int(nanoseconds / 1_000_000_000)
    end.tv_nsec = Int(nanoseconds % 1_000_000_000)
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !holds(value.pointee) {
      if pthread_cond_timedwait(condition, mutex, &end) != 0 { return holds(value.pointee) }
    }
    return true
  }

  /// Makes waiting threads look at the value again. Call it after a change that one may wait for.
  borrowing func notify() { pthread_cond_broadcast(condition) }
}
