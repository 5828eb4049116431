import PiconetWire

/// Passes facts and commands about an open transfer, stream or tunnel to its association, which is found by the
/// application's or the driver's number. It may have ended in the meantime, which was reported.
extension Turn {
  // MARK: Transfers

  func cancelTransfer(_ command: CommandID, _ id: TransferID, _ reason: Reason) {
    handles[id]?.cancelTransfer(id, reason, self)
    reply(command, .done)
  }

  func tellCompared(_ command: CommandID, _ id: TransferID, _ count: UInt64) {
    handles[id]?.tellCompared(id, count, self)
    reply(command, .done)
  }

  func pauseTransfer(_ command: CommandID, _ id: TransferID, _ isPaused: Bool) {
    handles[id]?.pauseTransfer(id, isPaused, self)
    reply(command, .done)
  }

  // MARK: Streams

  func streamWritten(_ id: StreamID, _ bytes: Bytes) {
    if let (association, number) = handles.handle(of: id), association.write(bytes, to: number, self) { return }
    add(.streamTaken(id, byteCount: bytes.count))
  }

  func streamConsumed(_ id: StreamID, _ count: Int) {
    guard id.isIncoming, let (association, number) = handles.handle(of: id) else { return }
    association.streamConsumed(number, count, self)
  }

  func finishStream(_ command: CommandID, _ id: StreamID) {
    if let (association, number) = handles.handle(of: id), association.finishStream(command, number, self) { return }
    reply(command, .failed(Ending(.noSuchAssociation, .us, "the stream has ended")))
  }

  func cancelStream(_ command: CommandID, _ id: StreamID, _ ending: Ending) {
    if let (association, number) = handles.handle(of: id) { association.cancelStream(id, number, ending, self) }
    reply(command, .done)
  }

  // MARK: Tunnels

  func tunnelWritten(_ id: TunnelID, _ bytes: Bytes) {
    guard let (association, number) = handles.handle(of: id) else { return }
    association.write(bytes, toTunnel: number, self)
  }

  func tunnelConsumed(_ id: TunnelID, _ count: Int) {
    guard let (association, number) = handles.handle(of: id) else { return }
    association.tunnelConsumed(number, count, self)
  }

  func tunnelClosed(_ id: TunnelID, isAborted: Bool) {
    guard let (association, number) = handles.handle(of: id) else { return }
    association.close(tunnel: number, Ending(.left, .us), isAborted: isAborted, self)
  }

  // MARK: Offers

  func acceptOffer(_ command: CommandID, _ id: TransferID, offset: UInt64) {
    if handles[id]?.acceptOffer(command, id, offset: offset, self) == true { return }
    // The association may have ended while the store was being opened. What the store has of an earlier transfer waits
    // for the next one.
    add(.keepStore(id))
    reply(command, .failed(Self.offerEnded))
  }

  func declineOffer(_ command: CommandID, _ id: TransferID, _ reason: Reason, _ detail: String) {
    if handles[id]?.declineOffer(command, id, reason, detail, self) == true { return }
    reply(command, .failed(Self.offerEnded))
  }

  private static let offerEnded = Ending(.noSuchAssociation, .peer, "the offer has ended")
}
