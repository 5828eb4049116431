import Piconet

/// The messages between sessions of this module in a separate channel, which goes before all others.
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
