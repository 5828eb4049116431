import PiconetWire

extension Association {
  var takesIntroductions: Bool { isStaying && capabilities.contains(.introductions) }

  /// A member that is to be brought together with the others.
  var isInGroup: Bool { takesIntroductions && capabilities.contains(.group) }

  /// Introduces another member to this one.
  func introduce(_ other: Association, timeout: Duration, _ surroundings: Surroundings, _ turn: Turn) {
    let known = other.knownAddresses(surroundings).compactMap { HostAddress($0) }
    let introduction = Introduce(
      other.node.memberName, timeout: UInt64(max(0, timeout.wholeNanoseconds / 1_000_000)), name: other.peer.name,
      addresses: Array(known.prefix(WireLimits.introducedAddresses)))
    send(.introduce(introduction), turn)
  }

  /// A member introduces another one.
  /// - Returns: nil if it does not count.
  func received(_ introduction: Introduce, _ turn: Turn) throws(Breach) -> FrameRequest? {
    guard try speaksAsMember() else { return nil }
    let subject = NodeID(introduction.member)
    guard subject != turn.node, subject != node else { throw Breach("introduces itself, or us to ourselves") }
    guard !turn.introduced.entries.contains(subject, by: node) else {
      throw Breach("introduces one node twice at once")
    }
    guard turn.introduced.entries.count(by: node) < WireLimits.unansweredIntroductions else {
      throw Breach("more introductions without an answer than there may be", .limitExceeded)
    }
    return .introduction(introduction, self)
  }

  /// Answers an introduction.
  /// - Parameter ending: nil: the node is a member.
  func answerIntroduction(of subject: NodeID, _ ending: Ending?, _ turn: Turn) {
    guard isMember else { return }
    guard let ending else { return send(.introduced(subject.memberName), turn) }
    send(.introductionFailed(subject.memberName, ending.reason, detail: ending.detail), turn)
  }

  /// A word about introductions that concerns other nodes as well.
  func speaksOfIntroduction(_ request: FrameRequest) throws(Breach) -> FrameRequest? {
    try speaksAsMember() ? request : nil
  }
}
