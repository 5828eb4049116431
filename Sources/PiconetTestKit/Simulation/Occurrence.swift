import PiconetEngine
import PiconetWire

/// An entry of the agenda. An entry about a node states the node's life, so that nothing reaches a restarted node by
/// mistake.
enum Occurrence {
  /// The node's loop takes the facts in its mailbox.
  case turn(node: Int, life: Int)
  case timer(node: Int, life: Int)
  case fact(node: Int, life: Int, Fact)
  /// The first piece in flight in a pipe arrives.
  case arrival(connection: Int, side: Int)
  case dialDone(index: Int, DialOutcome)
  case accepted(connection: Int)
  /// A side is told that its connection is gone.
  case linkLost(connection: Int, side: Int, LinkFailure)
  case application(node: Int, life: Int, ApplicationStep)
  case hostile(node: Int)
  /// The time in which a relay or the other end of a tunnel has to answer is up.
  case tunnelLate(node: Int, life: Int, TunnelID)
  case sighting(observer: Int, observed: Int, source: Int, isSeen: Bool)
  case weather(Weather)
}

/// The next action of a node's application.
enum ApplicationStep {
  case invite(target: Int, byAddress: Bool, timeout: UInt64)
  case cancelInvitation(CommandID)
  case introduce(first: Int, second: Int, timeout: UInt64)
  case cancelIntroduction(CommandID)
  case answerIntroduction(NodeID, accept: Bool)
  case expect(target: Int, length: UInt64)
  case stopExpecting(target: Int)
  case answer(NodeID, accept: Bool)
  /// The question is on the screen. The invitation is accepted afterwards.
  case showCode(NodeID)
  case confirm(NodeID, Bool)
  /// Takes a new code by which it can be invited.
  case setCode
  case send(NodeID, count: Int)
  case consume(NodeID, MessageChannel)
  case offer(NodeID)
  case acceptOffer(TransferID)
  case declineOffer(TransferID)
  case cancelTransfer(TransferID)
  case ping(NodeID)
  case compareCodes(NodeID)
  case cancelComparison(CommandID)
  case answerComparison(NodeID, isSame: Bool)
  case pauseTransfer(TransferID, Bool)
  case openStream(NodeID)
  case writeStream(StreamID)
  case readStream(StreamID)
  case cancelStream(StreamID)
  case leave(NodeID)
  case remove(NodeID)
  case removeNode(target: Int)
  case call(NodeID)
  case cancelCall(NodeID, _ conversation: Int, _ number: UInt64)
  case finishCall(NodeID, _ conversation: Int, _ number: UInt64)
  case callTimer(NodeID, _ conversation: Int)
  /// Its actor system stops, and another one is made.
  case remakeCalls
  /// It leaves all members, and comes back.
  case depart, comeBack
  case shutDown
}

/// Trouble.
enum Weather {
  /// Cuts a connection, drawn when it happens.
  case cut
  case stall(UInt64)
  case partition(UInt64)
  case healPartition
  /// Nothing arrives over a transport, and no node can be dialled over it. Its open connections may be cut as well.
  case outage(TransportKind, isTold: Bool, UInt64)
  case endOutage(TransportKind)
  case pause(UInt64)
  case crash(node: Int, restartAfter: UInt64)
  case restart(node: Int)
  case refuseDials(UInt64)
  /// A node hides, then shows itself again. Meanwhile it listens only for its members.
  case hide(UInt64)
  case show(node: Int)
}
