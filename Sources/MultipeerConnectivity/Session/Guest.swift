import Foundation
import Piconet

/// A member of a session's node: a peer from when it is connected until it has left. Confined to the session's queue.
final class Guest {
  let member: Member
  let peer: MCPeerID
  /// Whether this side's program has agreed to its certificate.
  var isAccepted = false
  /// Whether the other side's program has agreed to our certificate.
  var isReady = false
  /// Whether it was reported as connected: both have agreed.
  var isConnected = false
  var isSuspended = false
  /// The reason that it gave before it left.
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
