import PiconetEngine
import PiconetRuntime
import PiconetTLS
import PiconetWire

/// Codes that one device shows, or has on a label, and that a person types on the other: for machines without a screen.
/// Both sides prove to each other that they have the same code (SPAKE2, RFC 9382), bound to the keys of both and to
/// their connection; a person compares nothing. Neither an eavesdropper nor a man in the middle can search for a code:
/// each attempt is worth one guess.
extension Node {
  /// Sets the code with which unknown peers can invite this node; nil, as at the start: the node has no code. While a
  /// code is set, unknown peers can't invite this node in any other way. A peer that proves the code is a member at
  /// once, and `invitations` does not report it.
  ///
  /// The trust policy comes first: peers that it refuses, such as a blocked key, or a stranger under `remembered` and
  /// `pinned`, can't prove a code either.
  ///
  /// Three wrong tries, counted over all peers, end a code; a try that breaks off counts as wrong. A pause follows
  /// each: for the peer, for its address, and for all peers. `failedCodes` reports wrong tries.
  /// - Throws: `shuttingDown` once the node has stopped; `internalError`.
  public func setCode(_ code: TypedCode?) async throws(PiconetError) {
    let number: TypedCodeID?
    do throws(SecureChannelFailure) {
      number = try core.prover.prepare(code)
    } catch {
      throw PiconetError(.internalError, blame: .us, detail: "\(error)", underlying: error)
    }
    guard case .failure(let ending) = await core.answer(to: .setCode(number)) else { return }
    throw PiconetError(ending, peer: nil)
  }

  /// Wrong tries of this node's code. Unread tries wait for the next reader, at most 64; beyond that the oldest are
  /// dropped.
  public var failedCodes: EventSequence<FailedCode> { EventSequence(source: core.failedCodes) }

  /// Invites a peer in sight with the code that it shows, and waits until both have proven it.
  ///
  /// The same code is tried with at most three peers that turn out not to know it: each peer that isn't the device
  /// showing the code gets a guess.
  /// - Parameters:
  ///   - peer: one of `peers`.
  ///   - code: the code as a person has typed it.
  ///   - context: free data for the invited peer, at most 8,192 bytes.
  ///   - timeout: the time for the whole attempt. Default 30 s.
  ///   - transports: those by which the peer may be dialled for this invitation; nil: all of the configuration.
  ///   - proven: called on the node's loop once the peer's key is proven. Must return quickly.
  /// - Throws: why there is no connection: `wrongCode` if the other side has another one, or the attempt broke off;
  ///   `notAvailable` if it has no code.
  @discardableResult
  public func invite(
    _ peer: Peer, proving code: TypedCode, context: [UInt8] = [], timeout: Duration = .seconds(30),
    transports: Set<TransportKind>? = nil, proven: (@Sendable (ProvenMember) -> Void)? = nil
  ) async throws(PiconetError) -> Member {
    let kinds = try transports.map { (kinds) throws(PiconetError) in try core.configuration.usable(kinds) }
    return try await invite(
      found: peer, over: kinds, context: context, timeout: timeout, code: core.prover.number(of: code),
      Inviting(proven: proven, code: nil))
  }

  /// Invites the node that answers at an address with the code that it shows; see
  /// `invite(at:expecting:context:timeout:transports:proven:code:)`.
  /// - Throws: see `invite(_:proving:context:timeout:transports:proven:)`.
  @discardableResult
  public func invite(
    at address: String, proving code: TypedCode, expecting expected: PeerID? = nil, context: [UInt8] = [],
    timeout: Duration = .seconds(30), transports: Set<TransportKind>? = nil,
    proven: (@Sendable (ProvenMember) -> Void)? = nil
  ) async throws(PiconetError) -> Member {
    try await invite(
      at: try core.configuration.addresses(of: address, over: transports), proving: code, expecting: expected,
      context: context, timeout: timeout, proven: proven)
  }

  /// Invites the node that answers at these addresses with the code that it shows; see
  /// `invite(at:expecting:context:timeout:proven:code:)`.
  /// - Throws: see `invite(_:proving:context:timeout:transports:proven:)`.
  @discardableResult
  public func invite(
    at addresses: [TransportAddress], proving code: TypedCode, expecting expected: PeerID? = nil, context: [UInt8] = [],
    timeout: Duration = .seconds(30), proven: (@Sendable (ProvenMember) -> Void)? = nil
  ) async throws(PiconetError) -> Member {
    try await invite(
      .addresses(addresses, expected: expected), context: context, timeout: timeout,
      code: core.prover.number(of: code), Inviting(proven: proven, code: nil))
  }
}

extension TypedCode {
  /// Makes a new code of six unpredictable digits.
  /// - Throws: `internalError` if the system gives no random bytes.
  public static func made() throws(PiconetError) -> TypedCode {
    do throws(SecureChannelFailure) {
      return try random()
    } catch {
      throw PiconetError(.internalError, blame: .us, detail: "\(error)", underlying: error)
    }
  }
}
