import PiconetWire

/// How a secured link came to be.
public struct LinkOpening: Sendable, Hashable {
  /// The dial that made it; nil where the remote side dialled.
  public var dial: DialID?
  /// The remote side's key, proven by TLS.
  public var peer: PeerID
  public var traits: LinkTraits
  /// Whether this key may learn anything about us. If not, we don't tell it even our name, and it is refused at once.
  public var isAdmitted: Bool

  public init(dial: DialID?, peer: PeerID, traits: LinkTraits, isAdmitted: Bool = true) {
    self.isAdmitted = isAdmitted
    self.dial = dial
    self.peer = peer
    self.traits = traits
  }
}

/// How a link ended, as the edge saw it.
public enum LinkEnd: Sendable, Hashable {
  /// The remote side closed it in good order.
  case ended
  case failed(LinkFailure)
  case insecure(SecureChannelFailure)
}

/// What the trust policy says of a peer.
public enum TrustJudgement: Sendable, Hashable {
  /// Remembered, pinned, or our own device.
  case known
  /// Not known; the policy takes it on first use.
  case new
  /// A person has to compare the short codes first.
  case ask
  /// `detail` is for our own user and may name a file of this machine; `told` is for the peer.
  case refused(Reason, detail: String, told: String = "this device is not trusted there")
}

/// What happened. Facts are in the past tense.
///
/// Rare, large ones are `indirect`: every fact takes as much room as the largest one, and one is moved with each
/// message.
public enum Fact: Sendable, Hashable {
  indirect case commanded(CommandID, Command)
  /// A message to send; it was admitted within the channel's budget (`messagesTaken` gives budget back). Unreliable
  /// ones have no channel.
  case messageQueued(NodeID, Bytes, DeliveryMode, in: MessageChannel = 0)
  /// The application took reliable messages of this cost (their bytes, and `WireLimits.messageCost` for each).
  case messagesConsumed(NodeID, byteCount: Int, in: MessageChannel = 0)
  /// Bytes for a stream of ours; they were admitted within the stream's budget (`streamTaken` gives budget back).
  case streamWritten(StreamID, Bytes)
  /// The application has read this many bytes of an incoming stream; 0 for one that has ended without a byte.
  case streamConsumed(StreamID, byteCount: Int)
  /// A link of ours to `to` is wanted over a member that relays; answered by `tunnelOpened` or `tunnelEnded`.
  indirect case tunnelWanted(TunnelID, over: NodeID, to: NodeID)
  /// Bytes for a tunnel that ends here; as many may wait as `Tunnel.writeLimit` says (`tunnelTaken` gives room back).
  case tunnelWritten(TunnelID, Bytes)
  /// This many bytes that came through a tunnel were read.
  case tunnelConsumed(TunnelID, byteCount: Int)
  /// The user of a tunnel is done with it; nothing more is reported of it.
  /// - Parameter isAborted: whether what was written and has not gone is thrown away.
  case tunnelClosed(TunnelID, isAborted: Bool)
  indirect case discoveryReported(source: String, DiscoveryReport)
  /// A discovery source has ended: what only it saw is lost.
  case discoveryEnded(source: String)
  /// - Parameter at: the address that was reached, if it is the handshake there that has failed.
  indirect case dialFailed(DialID, LinkFailure, at: String? = nil)
  indirect case linkOpened(LinkID, LinkOpening)
  case received(LinkID, Bytes)
  /// This many bytes of what was to be transmitted are with the kernel now.
  case transmitted(LinkID, byteCount: Int)
  /// How much bulk the link takes now without delaying a message that comes next.
  case linkPaced(LinkID, BulkPace)
  indirect case linkClosed(LinkID, LinkEnd)
  indirect case trustJudged(LinkID, TrustJudgement)
  /// A nonce for a short code, or nil: the system has no random bytes to give.
  case nonceDrawn(CodeID, CodeNonce?)
  /// The short code, or nil: the reveal does not match the commitment.
  case codeDerived(CodeID, String?)
  /// What came of a step of the proof of a typed code.
  indirect case codeProven(CodeID, TypedCodeFinding)
  /// Chunk frames ready to transmit, all but the last of `chunkFrameCount` bytes, for the transfer's next bytes.
  case chunksRead(TransferID, frames: Bytes, payloadCount: Int)
  /// All offered bytes were read; what they hash to.
  case sourceFinished(TransferID, ResourceDigest)
  case sourceFailed(TransferID, Reason, detail: String)
  /// The store holds the first `upTo` bytes.
  case chunkStored(TransferID, upTo: UInt64)
  /// The resource is verified and has its final name.
  /// - Parameter wasAlreadyPresent: it was there before; nothing was stored.
  case committed(TransferID, name: [UInt8], wasAlreadyPresent: Bool = false)
  /// The digest shows that what the store took for the whole resource is something else: it begins again, with `offset`
  /// bytes.
  case storeRestarted(TransferID, offset: UInt64)
  case storeFailed(TransferID, Reason, detail: String)
  /// Whether strangers may connect to us; otherwise only members that have lost their link and expected peers may. An
  /// engine begins open.
  case availabilityChanged(Bool)
  /// Where the driver listens now, over all transports (`ListeningPort.list`); members are told. An engine begins with
  /// nothing.
  case listeningChanged([ListeningPort])
  /// A person here wants strangers to be listened to again, whatever codes were wrong: those whose fingerprints begin
  /// with these digits in lower case, or all where there are none.
  indirect case forgiven(String)
  /// Time has passed; nothing else.
  case deadlineReached
}
