import PiconetWire

/// Nodes that members have introduced to us, where only these members are concerned.
extension Turn {
  /// An introduced node is a member now, or it is known why it does not become one: its introducers are told.
  /// - Parameter ending: nil: it is a member.
  /// - Returns: what was known of it; nil if it was not introduced.
  @discardableResult
  func endIntroduction(of node: NodeID, telling ending: Ending?, _ members: AssociationTable) -> Introductions.Entry? {
    guard let entry = introductions[node] else { return nil }
    introductions.remove(node)
    for introducer in entry.introducers { members[introducer.node]?.answerIntroduction(of: node, ending, self) }
    return entry
  }

  /// A member takes its introduction back, which is answered too.
  /// - Returns: why the node does not become a member; nil where others stand by it.
  func introductionWithdrawn(_ subject: NodeID, _ reason: Reason, by introducer: Association) -> Ending? {
    // It may have crossed our answer.
    guard introductions.contains(subject, by: introducer.node) else { return nil }
    let ending = Ending(reason, .peer, "the introducer took it back")
    introductions.removeIntroducer(introducer.node, of: subject)
    introducer.answerIntroduction(of: subject, ending, self)
    return introductions[subject]?.introducers.isEmpty == true ? ending : nil
  }

  /// Introducers of the node that must have an answer by now get one; it goes on by the word of the others.
  func answerLateIntroducers(of entry: Introductions.Entry, _ members: AssociationTable) {
    for introducer in entry.introducers where introducer.deadline <= now {
      introductions.removeIntroducer(introducer.node, of: entry.node)
      members[introducer.node]?.answerIntroduction(of: entry.node, Introductions.tooLate, self)
    }
  }

  /// Where the node is to be dialled now: where it is seen, where members have said that it is, and over those of them
  /// that relay.
  func takeAddresses(
    of entry: Introductions.Entry, seen: [TransportAddress], _ transports: [TransportKind], _ members: AssociationTable
  ) -> [TransportAddress] {
    let addresses = introductions.takeAddresses(of: entry.node, seen: seen, over: transports, at: now)
    guard transports.contains(.relay) else { return addresses }
    let introducers = entry.introducers.map(\.node)
    return addresses
      + members.relayAddresses(of: entry.node).filter { address in
        address.relayed.map { introducers.contains($0.relay) } ?? false
      }
  }
}
