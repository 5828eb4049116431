import PiconetWire

/// What is to be done. Effects are imperative, plain values, and ordered: the order of two `transmit`s on one link
/// matters.
///
/// Rare and large ones are `indirect`, for the reason given at `Fact`.
public enum Effect: Sendable, Hashable {
  /// Dials addresses of one transport; answered by `linkOpened` or `dialFailed`.
  case dial(DialID, TransportKind, [TransportAddress])
  /// Cancels a dial; answered by `dialFailed` unless the link is open already.
  case cancelDial(DialID)
  case transmit(LinkID, Bytes)
  /// Closes the link; if `flush` is true, after what is still to be transmitted. No fact about the link follows.
  case closeLink(LinkID, flush: Bool)
  /// Asks whether a peer is trusted; answered by `trustJudged`. A peer that we dialled has been seen under a name; one
  /// that dials us need not have been.
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
  /// Tells that so many bytes have come again that are stored, or on their way to the store: the sender went on from
  /// before them.
  case chunkRepeated(TransferID, byteCount: Int)
  /// Verifies the resource and gives it its final name; answered by `committed`, `storeRestarted` or `storeFailed`.
  case commitStore(TransferID, size: UInt64, ResourceDigest)
  /// Throws away what was stored.
  case discardStore(TransferID)
  /// Nothing more comes, but the resource was not given up: what was stored may wait for the same offer to come again.
  case keepStore(TransferID)
  /// Messages of this cost (their bytes, and `WireLimits.messageCost` for each) left the channel's queue: as much may
  /// be queued again.
  case messagesTaken(NodeID, byteCount: Int, in: MessageChannel = 0)
  /// This many bytes left the queue of an outgoing stream: as many may be written again.
  case streamTaken(StreamID, byteCount: Int)
  /// A tunnel that the driver asked for is open; a link can begin in it.
  indirect case tunnelOpened(TunnelID, TunnelRoute)
  /// A member that relays has opened a tunnel to us, in which another node's link will begin.
  indirect case tunnelOffered(TunnelID, TunnelRoute)
  case tunnelReceived(TunnelID, Bytes)
  /// This many bytes left the queue of a tunnel: as many may be written again.
  case tunnelTaken(TunnelID, byteCount: Int)
  /// This many bytes that were sent through a tunnel have been passed on by the relay.
  case tunnelPassedOn(TunnelID, byteCount: Int)
  /// A tunnel is over, both ways; nil if its other end closed it in good order.
  indirect case tunnelEnded(TunnelID, LinkFailure?)
  case deliver(Event)
  indirect case reply(CommandID, Reply)
  /// `shutDown` is complete: nothing of ours is left.
  case finished
}
