import Synchronization

/// The run of an advertiser or a browser, if it has begun one: at most one at a time.
final class Running<Run: AnyObject & Sendable>: Sendable {
  private let run = Mutex<Run?>(nil)

  func begin(_ make: () -> Run) {
    if value != nil { return }
    let made = make()
    let isFirst = run.withLock { run in
      if run != nil { return false }
      run = made
      return true
    }
    // Two threads have begun at once: this run has not been used.
    if !isFirst { (made as? any Stoppable)?.stop() }
  }

  var value: Run? { run.withLock { $0 } }

  func replace(_ made: Run) { run.withLock { $0 = made } }

  func take() -> Run? {
    run.withLock { run in
      defer { run = nil }
      return run
    }
  }
}

protocol Stoppable {
  func stop()
}
