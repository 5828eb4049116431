import PiconetWire

/// What the application says of a transfer or stream that is open, to the association that it belongs to: found by the
/// number that the application has for it. It may have ended meanwhile, which an event has told.
extension Turn {
  // MARK: Streams

  func streamWritten(_ id: StreamID, _ bytes: Bytes) {
    if let (association, number) = places.place(of: id), association.write(bytes, to: number, self) { return }
    add(.streamTaken(id, byteCount: bytes.count))
  }

  func streamConsumed(_ id: StreamID, _ count: Int) {
    guard id.isIncoming, let (association, number) = places.place(of: id) else { return }
    association.streamConsumed(number, count, self)
  }

  func finishStream(_ command: CommandID, _ id: StreamID) {
    if let (association, number) = places.place(of: id), association.finishStream(command, number, self) { return }
    reply(command, .failed(Ending(.noSuchAssociation, .us, "the stream has ended")))
  }

  func cancelStream(_ command: CommandID, _ id: StreamID, _ ending: Ending) {
    if let (association, number) = places.place(of: id) { association.cancelStream(id, number, ending, self) }
    reply(command, .done)
  }

  // MARK: Offers

  func acceptOffer(_ command: CommandID, _ id: TransferID, offset: UInt64) {
    if places.association(of: id)?.acceptOffer(command, id, offset: offset, self) == true { return }
    // The link may have gone while the store was being opened: what it has of an earlier transfer waits for the next.
    add(.keepStore(id))
    reply(command, .failed(Self.offerEnded))
  }

  func declineOffer(_ command: CommandID, _ id: TransferID, _ reason: Reason, _ detail: String) {
    if places.association(of: id)?.declineOffer(command, id, reason, detail, self) == true { return }
    reply(command, .failed(Self.offerEnded))
  }

  private static let offerEnded = Ending(.noSuchAssociation, .peer, "the offer has ended")
}
