import PiconetWire

extension Association {
  var takesIntroductions: Bool { isStaying && capabilities.contains(.introductions) }

  /// Whether this is a member to bring together with the others of the group.
  var isInGroup: Bool { takesIntroductions && capabilities.contains(.group) }

  /// Introduces another member to this one.
  /// - Returns: whether the member was told an address of the other one.
  func introduce(_ other: Association, timeout: Duration, _ surroundings: Surroundings, _ turn: Turn) -> Bool {
    var known = other.knownAddresses(surroundings).compactMap { HostAddress($0, to: reachedHosts) }
    let isPlaced = !known.isEmpty
    // A link that is missing at the moment does not matter here.
    if configuration.relaying != nil, other.capabilities.contains(.tunnels) { known.insert(.overIntroducer, at: 0) }
    let introduction = Introduce(
      other.node, timeout: UInt64(max(0, timeout.wholeNanoseconds / 1_000_000)), name: other.peer.name,
      addresses: Array(known.prefix(WireLimits.introducedAddresses)))
    send(.introduce(introduction), turn)
    return isPlaced
  }

  /// Takes an introduction by this member.
  /// - Returns: what the engine must do; nil if the introduction does not count.
  func received(_ introduction: Introduce, _ turn: Turn) throws(Breach) -> FrameRequest? {
    guard try speaksAsMember() else { return nil }
    let subject = introduction.member
    guard subject != turn.node, subject != node else { throw Breach("introduces itself, or us to ourselves") }
    guard !turn.introduced.entries.contains(subject, by: node) else {
      throw Breach("introduces one node twice at once")
    }
    guard turn.introduced.entries.count(by: node) < WireLimits.unansweredIntroductions else {
      throw Breach("more introductions without an answer than there may be", .limitExceeded)
    }
    return .introduction(.introduce(introduction), self)
  }

  /// Answers an introduction.
  /// - Parameter ending: why the node does not become a member; nil if it has become one.
  func answerIntroduction(of subject: NodeID, _ ending: Ending?, _ turn: Turn) {
    guard isMember else { return }
    guard let ending else { return send(.introduced(subject), turn) }
    send(.introductionFailed(subject, ending.reason, detail: ending.detail), turn)
  }

  /// Passes on a frame about introductions, which concerns other nodes as well, if the remote side may send one.
  func speaksOfIntroduction(_ request: IntroductionRequest) throws(Breach) -> FrameRequest? {
    try speaksAsMember() ? .introduction(request, self) : nil
  }
}
