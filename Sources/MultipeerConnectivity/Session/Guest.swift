import Foundation
import Piconet

/// A member of a session's node: a peer from when its connection is there until it has left. Confined to the session's
/// queue.
final class Guest {
  let member: Member
  let peer: MCPeerID
  /// Whether this side's program has agreed to its certificate.
  var isAccepted = false
  /// Whether the other side's has agreed to ours.
  var isReady = false
  /// Whether it was told as connected: both have.
  var isConnected = false
  var isSuspended = false
  /// What it said before it left.
  var refusal: MCError?
  /// Ends the wait for the program's answer.
  var deadline: Task<Void, Never>?
  var resources: [UInt64: ReceivingResource] = [:]
  var sending: [ObjectIdentifier: SendingResource] = [:]
  var outputs: [WeakOutput] = []

  struct WeakOutput {
    weak var state: OutputState?
  }

  init(_ member: Member, _ peer: MCPeerID) {
    self.member = member
    self.peer = peer
  }
}

/// What sessions of this module tell each other in a channel of their own, which goes before all others.
enum ControlMessage: Equatable {
  static let channel: MessageChannel = 1

  /// The program here has agreed; messages may come.
  case ready
  case refused(Refusal)

  enum Refusal: UInt8 {
    case declined = 1
    case noAnswer = 2
    case encryption = 3
    case broken = 4
    case identity = 5

    /// - Parameter isOurs: whether this side has refused.
    func error(isOurs: Bool) -> MCError {
      let who = isOurs ? "this program" : "the peer"
      return switch self {
      case .declined: MCError(.cancelled, "\(who) has declined the certificate")
      case .noAnswer: MCError(.timedOut, "\(who) has not answered about the certificate in time")
      case .encryption: MCError(.unsupported, "one of the two requires encryption, and the other one refuses it")
      case .broken: MCError(.unknown, "the peer does not keep to the protocol")
      case .identity: MCError(.unknown, "another peer with the same MCPeerID is connected")
      }
    }
  }

  init?(_ bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    switch bytes.first {
    case 1: self = .ready
    case 2 where bytes.count > 1: self = .refused(Refusal(rawValue: bytes[1]) ?? .declined)
    default: return nil
    }
  }

  var bytes: [UInt8] {
    switch self {
    case .ready: [1]
    case .refused(let refusal): [2, refusal.rawValue]
    }
  }
}
