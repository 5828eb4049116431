import PiconetWire

/// What the driver must do. Effects are imperative, plain values, and ordered: the order of two `transmit`s on one link
/// matters.
///
/// Rare and large ones are `indirect`, for the reason given at `Fact`.
public enum Effect: Sendable, Hashable {
  /// Dials addresses of one transport; answered by `linkOpened` or `dialFailed`.
  case dial(DialID, TransportKind, [TransportAddress])
  /// Cancels a dial; answered by `dialFailed` unless the link is open already.
  case cancelDial(DialID)
  case transmit(LinkID, Bytes)
  /// Closes the link. If `flush` is true, the bytes still to be transmitted go first. No fact about the link follows.
  case closeLink(LinkID, flush: Bool)
  /// Asks whether a peer is trusted; answered by `trustJudged`. A peer that we dialled has been seen under a name. A
  /// peer that dials us may never have been seen.
  indirect case judgeTrust(LinkID, NodeID, name: String, isDialled: Bool)
  /// Draws a nonce for a short code; answered by `nonceDrawn`.
  case drawNonce(CodeID)
  /// Derives a short code from the channel of this link; answered by `codeDerived`.
  indirect case deriveCode(CodeID, LinkID, CodeInputs)
  /// A step of the proof of a typed code; each but the last is answered by `codeProven`.
  indirect case proveCode(CodeID, TypedCodeStep)
  /// Reads the next bytes of a source, framed as chunks of at most `chunkFrameCount` bytes a frame; answered by
  /// `chunksRead` or `sourceFailed`. `transfer` is the number in the frames.
  case readChunks(TransferID, transfer: UInt64, offset: UInt64, payloadCount: Int, chunkFrameCount: Int)
  /// Asks for the digest once all bytes were read; answered by `sourceFinished` or `sourceFailed`.
  case finishSource(TransferID)
  case closeSource(TransferID)
  /// Stores bytes; answered by `chunkStored` (one may answer several) or `storeFailed`.
  case storeChunk(TransferID, Bytes)
  /// Reports that so many bytes have arrived again. They are stored already, or on their way to the store, because the
  /// sender resumed before their end.
  case chunkRepeated(TransferID, byteCount: Int)
  /// Verifies the resource and gives it its final name; answered by `committed`, `storeRestarted` or `storeFailed`.
  case commitStore(TransferID, size: UInt64, ResourceDigest)
  /// Discards the stored bytes.
  case discardStore(TransferID)
  /// Closes a store that gets no more bytes, although the resource was not given up. The stored bytes may wait for the
  /// same offer to come again.
  case keepStore(TransferID)
  /// Messages of this cost (their bytes, and `WireLimits.messageCost` for each) have left the channel's queue. The same
  /// amount may be queued again.
  case messagesTaken(NodeID, byteCount: Int, in: MessageChannel = 0)
  /// This many bytes have left the queue of an outgoing stream. The same amount may be written again.
  case streamTaken(StreamID, byteCount: Int)
  /// A tunnel that the driver asked for is open. A link can begin in it.
  indirect case tunnelOpened(TunnelID, TunnelRoute)
  /// A member that relays has opened a tunnel to us, in which another node's link will begin.
  indirect case tunnelOffered(TunnelID, TunnelRoute)
  case tunnelReceived(TunnelID, Bytes)
  /// This many bytes have left the queue of a tunnel. The same amount may be written again.
  case tunnelTaken(TunnelID, byteCount: Int)
  /// The relay has passed on this many bytes that were sent through a tunnel.
  case tunnelPassedOn(TunnelID, byteCount: Int)
  /// A tunnel is over, both ways; the failure is nil if its other end closed it in good order.
  indirect case tunnelEnded(TunnelID, LinkFailure?)
  case deliver(Event)
  indirect case reply(CommandID, Reply)
  /// `shutDown` is complete: nothing of this node is left.
  case finished
}
