/// The association of each open transfer, stream and tunnel, by the number that the application uses for it. Also
/// counts the transfers with all peers together.
struct OpenHandles {
  private var transfers: [TransferID: Association] = [:]
  private(set) var outgoingTransferCount = 0
  private(set) var incomingTransferCount = 0
  private var streams: [StreamID: (association: Association, number: UInt64)] = [:]
  private var tunnels: [TunnelID: (association: Association, number: UInt64)] = [:]
  private var nextIncomingTunnel = TunnelID.firstIncoming
  private var nextIncomingTransfer = TransferID.firstIncoming
  private var nextIncomingStream = StreamID.firstIncoming

  // MARK: Transfers

  subscript(transfer: TransferID) -> Association? { transfers[transfer] }

  /// Adds an outgoing transfer, which the application has numbered.
  mutating func append(_ transfer: TransferID, in association: Association) {
    transfers[transfer] = association
    outgoingTransferCount += 1
  }

  /// Adds the next incoming transfer and returns its number.
  mutating func appendIncomingTransfer(in association: Association) -> TransferID {
    let id = TransferID(rawValue: nextIncomingTransfer)
    nextIncomingTransfer += 1
    incomingTransferCount += 1
    transfers[id] = association
    return id
  }

  mutating func remove(_ transfer: TransferID) {
    guard transfers.removeValue(forKey: transfer) != nil else { return }
    if transfer.isIncoming { incomingTransferCount -= 1 } else { outgoingTransferCount -= 1 }
  }

  // MARK: Streams

  /// Returns the association of a stream, and the stream's number on the wire, which has a meaning only within that
  /// association.
  func handle(of stream: StreamID) -> (association: Association, number: UInt64)? { streams[stream] }

  /// Adds an outgoing stream, which the application has numbered.
  mutating func append(_ stream: StreamID, _ number: UInt64, in association: Association) {
    streams[stream] = (association, number)
  }

  /// Returns the number for a peer's next stream.
  mutating func takeIncomingStreamID() -> StreamID {
    defer { nextIncomingStream += 1 }
    return StreamID(rawValue: nextIncomingStream)
  }

  mutating func remove(_ stream: StreamID) { streams[stream] = nil }

  // MARK: Tunnels

  func handle(of tunnel: TunnelID) -> (association: Association, number: UInt64)? { tunnels[tunnel] }

  /// Adds a tunnel that ends here.
  mutating func append(_ tunnel: TunnelID, _ number: UInt64, in association: Association) {
    tunnels[tunnel] = (association, number)
  }

  /// Returns the number for the next tunnel that a member opens to us.
  mutating func takeIncomingTunnelID() -> TunnelID {
    defer { nextIncomingTunnel += 1 }
    return TunnelID(rawValue: nextIncomingTunnel)
  }

  mutating func remove(_ tunnel: TunnelID) { tunnels[tunnel] = nil }
}
