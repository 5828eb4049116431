/// Waits for an answer that comes from another task or thread. Module Piconet has the like for its own use; this module
/// uses nothing but its public interface.
/// - Parameters:
///   - begin: hands the continuation to who has the answer, and who resumes it once.
///   - cancel: has the wait end, if it has not: the calling task was cancelled. It may be called twice.
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
