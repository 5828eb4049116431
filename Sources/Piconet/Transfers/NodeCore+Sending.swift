import PiconetEngine
import PiconetFiles
import PiconetHTTP
import PiconetRuntime
import PiconetWire
import Synchronization

/// Outgoing resources: opened on the disk thread, then sent by the engine.
extension NodeCore {
  /// Offers a resource. Requests of its handle reach the engine after the offer.
  func send(_ resource: Resource, to member: Member) async throws(PiconetError) -> OutgoingTransfer {
    let transfers = try await send(resource, to: [member])
    return transfers[0]
  }

  /// Offers a resource to each of these members in the same way. It is opened once for all of them.
  func send(_ resource: Resource, to members: [Member]) async throws(PiconetError) -> [OutgoingTransfer] {
    let open = try await open(resource, for: members.count)
    return zip(members, open.sources).map { member, source in
      let offer = ResourceOffer(
        name: source.name, size: source.size, mediaType: open.mediaType, modified: source.modified,
        metadata: resource.metadata, identity: source.identity,
        folder: resource.folder.map { Array($0.text.utf8) } ?? [], group: open.group)
      return send(source, offer, to: member, in: open.place)
    }
  }

  /// - Parameter place: kept until the transfer has ended.
  func send(
    _ source: any OfferedSource, _ offer: ResourceOffer, to member: Member, in place: OpenFiles.Place? = nil
  ) -> OutgoingTransfer {
    let transfer = OutgoingTransfer(
      TransferID(rawValue: makeNumber()), to: member.id, source: source, core: self)
    if let file = source as? FileSource {
      file.hashed.withLock { $0 = { [weak transfer] count in transfer?.compared(count) } }
    }
    withState { $0.transfers.sending[transfer.transfer] = transfer }
    let request = Request.offer(transfer.transfer, to: member.id, offer, from: source)
    hand(over: request, if: { self.isSending(source, to: member) }, otherwise: Self.hasLeft) { [self] result in
      _ = withState { $0.transfers.sending.removeValue(forKey: transfer.transfer) }
      transfer.ended(result)
      withExtendedLifetime(place) {}
    }
    return transfer
  }

  /// Returns whether the membership still lasts, on the loop. If not, the source is asked for nothing more.
  private func isSending(_ source: any OfferedSource, to member: Member) -> Bool {
    if !member.membership.isOver { return true }
    if source.arrives { _ = worker.submit { source.close() } }
    return false
  }

  /// Waits for the end; cancelling the task cancels the transfer.
  func finish(_ transfer: OutgoingTransfer) async throws(PiconetError) -> SentResource {
    let result: Result<SentResource, PiconetError> = await withTaskCancellationHandler {
      do throws(PiconetError) {
        return .success(try await transfer.end)
      } catch {
        return .failure(error)
      }
    } onCancel: {
      transfer.cancel()
    }
    return try result.get()
  }

  /// Cancels a transfer in either direction.
  func cancel(_ transfer: TransferID, _ reason: Reason = .cancelled) {
    tell(.cancelTransfer(transfer, reason))
  }

  /// - Parameter watched: the state of the transfer; it is finished with the transfer.
  func pause(_ transfer: TransferID, _ isPaused: Bool, _ watched: Watched<TransferProgress>) {
    // Both under one lock, so that two concurrent callers leave the flag as the engine has it.
    watched.update { progress in
      progress.isPaused = isPaused
      tell(.pauseTransfer(transfer, isPaused))
    }
  }

  // MARK: Fetches

  /// Keeps track of a fetch, which ends with the node at the latest.
  /// - Returns: false if the node has ended.
  func watch(_ fetch: HTTPFetch) -> Bool {
    withState { state in
      if !state.isClosed { state.transfers.add(fetch) }
      return !state.isClosed
    }
  }

  /// Ends a fetch on a thread that may wait for it.
  func close(_ fetch: HTTPFetch) {
    forget(fetch)
    if !worker.submit({ fetch.close() }) { fetch.close() }
  }

  /// Removes a fetch that has ended.
  func forget(_ fetch: HTTPFetch) { withState { $0.transfers.remove(fetch) } }

  // MARK: What the loop tells

  func sending(_ transfer: TransferID) -> OutgoingTransfer? { withState { $0.transfers.sending[transfer] } }
}
