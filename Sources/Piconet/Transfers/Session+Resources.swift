extension Session {
  /// Sends one resource to all members as they are now; see `send(_:to:)`.
  public func send(_ resource: Resource) async throws(PiconetError) -> [NodeID: Result<SentResource, PiconetError>] {
    try await send(resource, to: members)
  }

  /// Sends one resource to several members, and returns when each has stored it or failed; no member waits for another.
  /// A file is read and hashed once for all members that are less than 4 MiB apart; for one that falls further behind
  /// it is read separately. A URL is fetched once. Cancelling the calling task cancels all of these transfers.
  /// - Returns: the result of each member's transfer.
  /// - Throws: see `Member.send`; only before anything is offered.
  public func send(
    _ resource: Resource, to members: [Member]
  ) async throws(PiconetError) -> [NodeID: Result<SentResource, PiconetError>] {
    let transfers = try await startSending(resource, to: members)
    return await withTaskCancellationHandler {
      var results: [NodeID: Result<SentResource, PiconetError>] = [:]
      for transfer in transfers {
        do throws(PiconetError) {
          results[transfer.receiver] = .success(try await transfer.end)
        } catch {
          results[transfer.receiver] = .failure(error)
        }
      }
      return results
    } onCancel: {
      for transfer in transfers { transfer.cancel() }
    }
  }

  /// Starts sending to all members as they are now, as `send` does, but returns as soon as the resource is open.
  /// - Returns: one transfer for each member, in the order of `members`.
  public func startSending(_ resource: Resource) async throws(PiconetError) -> [OutgoingTransfer] {
    try await startSending(resource, to: members)
  }

  /// Starts sending as `send(_:to:)` does, but returns as soon as the resource is open and its size is known: each
  /// transfer can then be watched, paused and cancelled.
  /// - Returns: one transfer for each member, in their order.
  public func startSending(
    _ resource: Resource, to members: [Member]
  ) async throws(PiconetError) -> [OutgoingTransfer] {
    try await core.send(resource, to: members)
  }
}
