import Piconet

extension OutgoingTransfer {
  /// As `result`. Ending the program meanwhile does not give the file up: the receiver keeps what it has of it.
  /// - Parameter following: what watches the transfer's changes: it has seen the last one when this returns.
  func interruptibleResult(behind following: Task<Void, Never>) async throws(PiconetError) -> SentResource {
    try await end(behind: following, interrupt) { () throws(PiconetError) in try await self.result }
  }
}

extension IncomingTransfer {
  /// As `result`. Ending the program meanwhile does not give the file up: what is stored of it is kept.
  /// - Parameter following: what watches the transfer's changes: it has seen the last one when this returns.
  func interruptibleResult(behind following: Task<Void, Never>) async throws(PiconetError) -> Received {
    try await end(behind: following, interrupt) { () throws(PiconetError) in try await self.result }
  }
}

private func end<Value: Sendable>(
  behind following: Task<Void, Never>, _ interrupt: @escaping @Sendable () -> Void,
  _ result: @escaping @Sendable () async throws(PiconetError) -> Value
) async throws(PiconetError) -> Value {
  // A task of its own, since a cancelled one would not wait for the transfer's end.
  let end = Task { () -> Result<Value, PiconetError> in
    await following.value
    do throws(PiconetError) {
      return .success(try await result())
    } catch {
      return .failure(error)
    }
  }
  return try await withTaskCancellationHandler {
    await end.value
  } onCancel: {
    interrupt()
  }.get()
}
