import Piconet

extension OutgoingTransfer {
  /// As `result`. A person who ends the program meanwhile has not given the file up: the receiver keeps what it has of
  /// it.
  var interruptibleResult: SentFile {
    get async throws(PiconetError) { try await end(interrupt) { () throws(PiconetError) in try await self.result } }
  }
}

extension IncomingTransfer {
  /// As `result`. A person who ends the program meanwhile has not given the file up: what is stored of it is kept.
  var interruptibleResult: Received {
    get async throws(PiconetError) { try await end(interrupt) { () throws(PiconetError) in try await self.result } }
  }
}

private func end<Value: Sendable>(
  _ interrupt: @escaping @Sendable () -> Void, _ result: @escaping @Sendable () async throws(PiconetError) -> Value
) async throws(PiconetError) -> Value {
  // A task of its own, since a cancelled one would not wait for how the transfer has ended.
  let end = Task { () -> Result<Value, PiconetError> in
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
