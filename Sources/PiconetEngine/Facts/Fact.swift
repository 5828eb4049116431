import PiconetWire

/// The origin of a secured link.
public struct LinkOpening: Sendable, Hashable {
  /// The dial that opened the link; nil if the remote side dialled.
  public var dial: DialID?
  /// The remote side's key, proven by TLS.
  public var peer: PeerID
  public var traits: LinkTraits
  /// Whether this key may learn anything about us. If not, we tell it nothing, not even our name, and refuse it at
  /// once.
  public var isAdmitted: Bool

  public init(dial: DialID?, peer: PeerID, traits: LinkTraits, isAdmitted: Bool = true) {
    self.isAdmitted = isAdmitted
    self.dial = dial
    self.peer = peer
    self.traits = traits
  }
}

/// How a link ended, as its edge saw it.
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
  /// Not known; the policy accepts it on first use.
  case new
  /// A person has to compare the short codes first.
  case ask
  /// `detail` is for our own user and may name a file of this machine; `told` is for the peer.
  case refused(Reason, detail: String, told: String = "this device is not trusted there")
}

/// What happened. Facts are in the past tense.
///
/// Rare, large facts are `indirect`. Every fact takes as much room as the largest one, and one is moved with each
/// message.
public enum Fact: Sendable, Hashable {
  indirect case commanded(CommandID, Command)
  /// A message to send, admitted within the channel's budget (`messagesTaken` gives budget back). Unreliable messages
  /// have no channel.
  case messageQueued(NodeID, Bytes, DeliveryMode, in: MessageChannel = 0)
  /// The application has taken reliable messages of this cost (their bytes, and `WireLimits.messageCost` for each).
  case messagesConsumed(NodeID, byteCount: Int, in: MessageChannel = 0)
  /// Bytes for an outgoing stream, admitted within the stream's budget (`streamTaken` gives budget back).
  case streamWritten(StreamID, Bytes)
  /// The application has read this many bytes of an incoming stream; 0 for a stream that has ended without a byte.
  case streamConsumed(StreamID, byteCount: Int)
  /// The driver wants a link to `to` over a member that relays; answered by `tunnelOpened` or `tunnelEnded`.
  indirect case tunnelWanted(TunnelID, over: NodeID, to: NodeID)
  /// Bytes for a tunnel that ends here. `Tunnel.writeLimit` says how many may wait (`tunnelTaken` gives room back).
  case tunnelWritten(TunnelID, Bytes)
  /// This many bytes that came through a tunnel were read.
  case tunnelConsumed(TunnelID, byteCount: Int)
  /// The user of a tunnel is done with it. Nothing more is reported of it.
  /// - Parameter isAborted: whether bytes that were written and not sent yet are discarded.
  case tunnelClosed(TunnelID, isAborted: Bool)
  indirect case discoveryReported(source: String, DiscoveryReport)
  /// A discovery source has ended. Peers that only this source saw are lost.
  case discoveryEnded(source: String)
  /// - Parameter at: the address that was reached, if the handshake there is what failed.
  indirect case dialFailed(DialID, LinkFailure, at: String? = nil)
  indirect case linkOpened(LinkID, LinkOpening)
  case received(LinkID, Bytes)
  /// This many of the bytes to transmit are with the kernel now.
  case transmitted(LinkID, byteCount: Int)
  /// How much bulk the link takes now without delaying a later message.
  case linkPaced(LinkID, BulkPace)
  indirect case linkClosed(LinkID, LinkEnd)
  indirect case trustJudged(LinkID, TrustJudgement)
  /// A nonce for a short code; nil if the system has no random bytes to give.
  case nonceDrawn(CodeID, CodeNonce?)
  /// The short code; nil if the reveal does not match the commitment.
  case codeDerived(CodeID, String?)
  /// The result of a step of the proof of a typed code.
  indirect case codeProven(CodeID, TypedCodeFinding)
  /// Chunk frames ready to transmit, for the transfer's next bytes. All but the last have `chunkFrameCount` bytes.
  case chunksRead(TransferID, frames: Bytes, payloadCount: Int)
  /// All offered bytes were read; the digest is their hash.
  case sourceFinished(TransferID, ResourceDigest)
  case sourceFailed(TransferID, Reason, detail: String)
  /// The store holds the first `upTo` bytes.
  case chunkStored(TransferID, upTo: UInt64)
  /// The resource is verified and has its final name.
  /// - Parameter wasAlreadyPresent: whether the resource was there before, so that nothing was stored.
  case committed(TransferID, name: [UInt8], wasAlreadyPresent: Bool = false)
  /// The digest shows that the content which the store took for the whole resource is something else. The store begins
  /// again, with `offset` bytes.
  case storeRestarted(TransferID, offset: UInt64)
  case storeFailed(TransferID, Reason, detail: String)
  /// Whether strangers may connect to us. If not, only members that have lost their link and expected peers may. An
  /// engine begins open.
  case availabilityChanged(Bool)
  /// The ports on which the driver listens now, over all transports (`ListeningPort.list`). Members are told of them.
  /// An engine begins without any.
  case listeningChanged([ListeningPort])
  /// A person here wants strangers to be heard again, however many codes were wrong. It concerns strangers whose
  /// fingerprints begin with these digits in lower case, or all strangers if there are no digits.
  indirect case forgiven(String)
  /// Time has passed, and nothing else has happened.
  case deadlineReached
}
