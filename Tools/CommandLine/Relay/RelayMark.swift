import Piconet

/// How devices that pass on what others send, and those reached that way, tell each other what they are.
enum RelayMark {
  /// In the discovery info of `piconet relay`, so that it is not taken for a receiver.
  static let info = ["role": "relay"]
  /// The greeting of a receiver that wants to be reached over a relay: relays introduce others to it.
  static let receiverGreeting = Array("receiver".utf8)

  /// The greeting of a relay: who was told to reach others over a device learns at once that it does not relay.
  static let relayGreeting = Array("relay".utf8)

  static func isRelay(_ peer: Peer) -> Bool { peer.info["role"] == "relay" }

  static func isRelay(_ member: ProvenMember) -> Bool { member.greeting == relayGreeting }

  static func isReceiver(_ member: ProvenMember) -> Bool { member.greeting == receiverGreeting }
}
