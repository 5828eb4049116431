/// Threads for calls that block.
public protocol BlockingThreads: Sendable {
  /// Any thread. Runs `work` on one of these.
  /// - Returns: false if they take no more: `work` will not run.
  func submit(_ work: @escaping @Sendable () -> Void) -> Bool
}

extension BlockingThreads {
  /// On `loop`. Runs `work` on one of the threads, then `then` with its value on `loop`.
  /// - Returns: as `submit`; if false, neither will run.
  public func submit<Value: Sendable>(
    answering loop: EventLoop, _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
  ) -> Bool {
    precondition(loop.isOnLoop, "answers go to the loop that asks")
    let answer = LoopConfined(then)
    return submit {
      let value = work()
      loop.execute { answer.value(value) }
    }
  }
}

/// Carries a loop's value through other threads, which do not touch it.
struct LoopConfined<Value>: @unchecked Sendable {
  // Sendable is right: made on a loop and used on the same loop only.
  let value: Value
  init(_ value: Value) { self.value = value }
}
