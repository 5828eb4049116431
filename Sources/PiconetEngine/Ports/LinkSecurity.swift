import PiconetWire

/// The port of link security. It makes secure channels, and the short code of a channel. It is confined to the loop.
public protocol LinkSecurity: AnyObject {
  /// Makes a new channel for a link over a transport of this kind.
  func makeChannel(isDialler: Bool, over kind: TransportKind) -> any SecureChannel
  /// Makes 32 random bytes for one short code with the commitment to them; nil if the system has no random bytes.
  func makeNonce() -> CodeNonce?
  /// Returns the code that both screens show; nil if the inviter's nonce does not match its commitment.
  func code(of channel: any SecureChannel, _ inputs: CodeInputs) -> String?
  /// Takes one step of the proof of a typed code, and returns its finding; nil for `end`.
  /// - Parameter channel: the channel of the link that the step names; nil if it names none, or the link is gone.
  func prove(_ id: CodeID, _ step: TypedCodeStep, over channel: (any SecureChannel)?) -> TypedCodeFinding?
}

/// The port of trust, which decides which peers are let in. It is confined to the loop. A person, not the engine,
/// decides which peers are remembered.
public protocol TrustJudge: AnyObject {
  /// Returns whether a key that has dialled us may learn anything about us at all, such as our name. If so, `judge`
  /// follows.
  func admits(_ peer: PeerID) -> Bool
  /// - Parameters:
  ///   - name: the name of the peer in its hello.
  ///   - isDialled: whether we have dialled this link.
  func judge(_ node: NodeID, name: String, isDialled: Bool) -> TrustJudgement
  /// Returns the strangers whose wrong codes a person has forgiven since the last call (`Fact.forgiven`). Called before
  /// `judge`.
  func takeForgiven() -> [String]
}
