import PiconetWire

/// The port of link security: makes secure channels, and the short code of one; confined to the loop.
public protocol LinkSecurity: AnyObject {
  /// A new channel for a link over a transport of this kind.
  func makeChannel(isDialler: Bool, over kind: TransportKind) -> any SecureChannel
  /// 32 random bytes for one short code with the commitment to them, or nil if the system has none to give.
  func makeNonce() -> CodeNonce?
  /// The code that both screens show; nil if the inviter's nonce is not the one committed to.
  func code(of channel: any SecureChannel, _ inputs: CodeInputs) -> String?
  /// One step of the proof of a typed code: what it has found, nil for `end`.
  /// - Parameter channel: of the link that the step names; nil if it names none, or the link is gone.
  func prove(_ id: CodeID, _ step: TypedCodeStep, over channel: (any SecureChannel)?) -> TypedCodeFinding?
}

/// The port of trust: which peers are let in; confined to the loop. Which are remembered is for a person to say, not
/// the engine.
public protocol TrustJudge: AnyObject {
  /// Whether a key that has dialled us may learn anything about us at all, such as our name; if so, `judge` follows.
  func admits(_ peer: PeerID) -> Bool
  /// - Parameters:
  ///   - name: what the peer calls itself in its hello.
  ///   - isDialled: we have dialled this link.
  func judge(_ node: NodeID, name: String, isDialled: Bool) -> TrustJudgement
  /// Strangers whose wrong codes a person has forgiven since the last call (`Fact.forgiven`); asked before `judge`.
  func takeForgiven() -> [String]
}
