import PiconetEngine
import PiconetWire
import Synchronization

/// Holds the codes of one node, and computes the proofs for the engine; no other part sees digits and secrets.
///
/// `number(of:)` and `prepare(_:)` may be called on any thread; the proofs are confined to the loop.
public final class TypedCodeProver: Sendable {
  private struct State {
    var numbers: [TypedCode: TypedCodeID] = [:]
    var codes: [TypedCodeID: TypedCode] = [:]
    var next: UInt64 = 1
    /// The code with which this node is invited. Its scalar is computed in advance: a stranger's share must not cost
    /// that much.
    var own: (id: TypedCodeID, scalar: TypedCodeScalar)?
    var exchanges: [CodeID: TypedCodeExchange] = [:]
  }

  private let own: PeerID
  private let state = Mutex(State())

  /// - Parameter own: this node's id.
  public init(own: PeerID) { self.own = own }

  /// Returns the number under which the engine knows the code: always the same for the same digits while the process
  /// lives, so that their wrong tries add up.
  public func number(of code: TypedCode) -> TypedCodeID {
    state.withLock { state in
      if let number = state.numbers[code] { return number }
      let number = TypedCodeID(rawValue: state.next)
      state.next += 1
      // If a program types many codes, the oldest are forgotten.
      if state.numbers.count >= Self.limit, let oldest = state.codes.keys.min(), let code = state.codes[oldest] {
        state.numbers[code] = nil
        state.codes[oldest] = nil
      }
      state.numbers[code] = number
      state.codes[number] = code
      return number
    }
  }

  /// The number of codes that are remembered.
  public static let limit = 1_024

  /// Returns a new number for the code with which this node can be invited, whatever was tried with the same digits
  /// before; nil for no code. The previous code is erased.
  ///
  /// Takes some 30 ms: don't call it on the loop.
  /// - Throws: `internalError` with OpenSSL's reason.
  public func prepare(_ code: TypedCode?) throws(SecureChannelFailure) -> TypedCodeID? {
    guard let code else {
      state.withLock { $0.own = nil }
      return nil
    }
    let scalar = try TypedCodeScalar(code, invited: own)
    return state.withLock { state in
      let number = TypedCodeID(rawValue: state.next)
      state.next += 1
      state.own = (number, scalar)
      return number
    }
  }

  /// Computes one step of a proof, and returns its result; nil for `end`.
  /// - Parameter channel: the channel of the link that the step names.
  public func prove(_ id: CodeID, _ step: TypedCodeStep, over channel: (any SecureChannel)?) -> TypedCodeFinding? {
    do throws(SecureChannelFailure) {
      switch step {
      case .share(let code, _):
        let exchange = try inviting(code, over: channel)
        keep(exchange, id)
        return .share(exchange.share)
      case .answer(let code, _, let share):
        var exchange = try invited(code, over: channel)
        let confirmation = try exchange.take(remoteShare: share)
        keep(exchange, id)
        return .answer(share: exchange.share, confirmation: confirmation)
      case .check(let share, let confirmation):
        guard var exchange = state.withLock({ $0.exchanges[id] }) else { return .failed(Self.over) }
        let own = try exchange.take(remoteShare: share)
        return exchange.verifies(confirmation) ? .confirmed(own) : .wrong
      case .confirm(let confirmation):
        guard let exchange = state.withLock({ $0.exchanges[id] }) else { return .failed(Self.over) }
        return exchange.verifies(confirmation) ? .right : .wrong
      case .end:
        keep(nil, id)
        return nil
      }
    } catch {
      return error.code == .protocolViolation ? .unfit : .failed("\(error)")
    }
  }

  private static let over = "the proof is over"

  private func keep(_ exchange: TypedCodeExchange?, _ id: CodeID) {
    state.withLock { $0.exchanges[id] = exchange }
  }

  private func inviting(
    _ code: TypedCodeID, over channel: (any SecureChannel)?
  ) throws(SecureChannelFailure) -> TypedCodeExchange {
    guard let digits = state.withLock({ $0.codes[code] }) else {
      throw SecureChannelFailure(.internalError, "the code is not known any more")
    }
    let (remote, exported) = try Self.binding(channel)
    let scalar = try TypedCodeScalar(digits, invited: remote)
    return try TypedCodeExchange(.inviter, scalar, inviter: own, exportedKey: exported)
  }

  private func invited(
    _ code: TypedCodeID, over channel: (any SecureChannel)?
  ) throws(SecureChannelFailure) -> TypedCodeExchange {
    guard let prepared = state.withLock({ $0.own }), prepared.id == code else {
      throw SecureChannelFailure(.internalError, "the code is not set any more")
    }
    let (remote, exported) = try Self.binding(channel)
    return try TypedCodeExchange(.invited, prepared.scalar, inviter: remote, exportedKey: exported)
  }

  /// Returns the remote side's key, and the channel's exported one.
  private static func binding(_ channel: (any SecureChannel)?) throws(SecureChannelFailure) -> (PeerID, [UInt8]) {
    guard let channel, case .secured(let peer) = channel.state else {
      throw SecureChannelFailure(.internalError, "the connection is gone")
    }
    return (peer, channel.exportedKey(label: TypedCodeExchange.exporterLabel))
  }
}
