/// Waits for an answer from another task or thread. Module Piconet has a similar function for itself; this module uses
/// only its public interface.
/// - Parameters:
///   - begin: hands the continuation to the code that has the answer and resumes it once.
///   - cancel: ends the wait, if it has not ended: the calling task was cancelled. It may be called twice.
// Inlined, or each call would pay for one more frame of an asynchronous function.
@inline(__always)
func waitForAnswer<Answer: Sendable>(
  _ begin: (UnsafeContinuation<Answer, Never>) -> Void, cancel: @Sendable () -> Void
) async -> Answer {
  await withTaskCancellationHandler {
    await withUnsafeContinuation { continuation in
      begin(continuation)
      // It may have been cancelled before there was something to cancel.
      if Task.isCancelled { cancel() }
    }
  } onCancel: {
    cancel()
  }
}
