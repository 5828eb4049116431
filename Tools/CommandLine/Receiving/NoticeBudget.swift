import Piconet

/// Decides which actions of peers are reported, so that no peer can fill a log by repeating the same action. A value:
/// its owner supplies the time.
///
/// For one stranger's key the first ones are reported, then at most one every ten seconds. The same holds for one
/// address, with any number of keys. All strangers together have as much as four addresses, since addresses cost
/// nothing, either. A known key has its own limit, which no stranger can use up.
struct NoticeBudget: Sendable {
  static let interval = Duration.seconds(10)
  /// All strangers together have as much as this many addresses.
  static let addressesOfAll = 4
  /// For invitations.
  static let addressBurst = 8
  /// For offers: a peer may send a folder of files that are not accepted.
  static let offerBurst = 64
  /// For offers of which nothing is stored, although nothing is wrong: a peer may send all photos of a year again.
  static let repeatBurst = 1_024
  /// For files that may have replaced others.
  static let overwriteBurst = 16_384
  /// For peers that become members, compare codes, leave, or can't be reached for a while.
  static let memberBurst = 64
  /// How many keys and addresses of strangers are remembered; those beyond share one allowance.
  static let subjectLimit = 512

  private enum Subject: Hashable {
    case key(PeerID)
    case address(String)
    case others
    case all
  }

  /// How many are reported without a pause for one key, for one address, and for a known key.
  private let keyBurst: Int
  private let addressBurst: Int
  private let knownBurst: Int
  /// Whether everything is reported about peers that a person lets push.
  private let tellsAllOfTrusted: Bool
  private var strangers: [Subject: NoticeAllowance] = [:]
  /// Bounded by how many a person has made known.
  private var known: [PeerID: NoticeAllowance] = [:]

  init(
    ofKey keyBurst: Int = 1, ofAddress addressBurst: Int = NoticeBudget.addressBurst,
    ofKnown knownBurst: Int = NoticeBudget.addressBurst, tellsAllOfTrusted: Bool = false
  ) {
    (self.keyBurst, self.addressBurst, self.knownBurst) = (keyBurst, addressBurst, knownBurst)
    self.tellsAllOfTrusted = tellsAllOfTrusted
  }

  /// The same number for a key, an address and a known key; everything for peers that a person lets push.
  init(of burst: Int) { self.init(ofKey: burst, ofAddress: burst, ofKnown: burst, tellsAllOfTrusted: true) }

  /// Whether the next one from this peer would be reported.
  mutating func tells(_ peer: ProvenMember, _ now: ContinuousClock.Instant = .now) -> Bool {
    isTrusted(peer) || tells(peer.fingerprint, at: peer.remoteHost, isKnown: peer.known != nil, now)
  }

  /// Notes that this peer has repeated the action.
  /// - Returns: how many went unreported since the last report; nil: this one is not reported either.
  mutating func take(_ peer: ProvenMember, _ now: ContinuousClock.Instant = .now) -> Int? {
    isTrusted(peer) ? 0 : take(peer.fingerprint, at: peer.remoteHost, isKnown: peer.known != nil, now)
  }

  private func isTrusted(_ peer: ProvenMember) -> Bool { tellsAllOfTrusted && peer.rights.contains(.push) }

  /// Whether the next one from this key and address would be reported.
  /// - Parameter address: without the port, which is a different one each time.
  mutating func tells(
    _ key: PeerID, at address: String, isKnown: Bool = false, _ now: ContinuousClock.Instant
  ) -> Bool {
    if isKnown { return knownAllowance(key, now).left > 0 }
    return refilled(key, address, now).allSatisfy { $0.allowance.left != 0 }
  }

  /// Notes that the peer with this key and address has repeated the action.
  mutating func take(
    _ key: PeerID, at address: String, isKnown: Bool = false, _ now: ContinuousClock.Instant
  ) -> Int? {
    if isKnown { return takeKnown(key, now) }
    var allowances = refilled(key, address, now)
    defer { for (subject, allowance) in allowances { strangers[subject] = allowance } }
    if let spent = allowances.firstIndex(where: { $0.allowance.left == 0 }) {
      allowances[spent].allowance.suppressed += 1
      return nil
    }
    var suppressed = 0
    for index in allowances.indices {
      suppressed += allowances[index].allowance.suppressed
      allowances[index].allowance.suppressed = 0
      _ = allowances[index].allowance.take(at: now)
    }
    return suppressed
  }

  private func knownAllowance(_ key: PeerID, _ now: ContinuousClock.Instant) -> NoticeAllowance {
    var allowance = known[key] ?? NoticeAllowance(knownBurst, then: Self.interval, now)
    allowance.refill(at: now)
    return allowance
  }

  private mutating func takeKnown(_ key: PeerID, _ now: ContinuousClock.Instant) -> Int? {
    var allowance = knownAllowance(key, now)
    defer { known[key] = allowance }
    guard allowance.take(at: now) else {
      allowance.suppressed += 1
      return nil
    }
    defer { allowance.suppressed = 0 }
    return allowance.suppressed
  }

  /// The figure in an event for those before it that went unreported.
  static func figure(_ suppressed: Int?) -> Int64? { suppressed.flatMap { $0 > 0 ? Int64($0) : nil } }

  /// The end of a line, for those before it that went unreported.
  static func words(_ suppressed: Int) -> String {
    switch suppressed {
    case 0: ""
    case 1: "; so was one before"
    default: "; so were \(suppressed) before"
    }
  }

  /// What is said of suppressed lines, for a line with another verb.
  static func othersNotTold(_ suppressed: Int) -> String {
    switch suppressed {
    case 0: ""
    case 1: "; one other was not told"
    default: "; \(suppressed) others were not told"
    }
  }

  /// The allowances that apply to this key and address, brought up to date.
  private mutating func refilled(
    _ key: PeerID, _ address: String, _ now: ContinuousClock.Instant
  ) -> [(subject: Subject, allowance: NoticeAllowance)] {
    var subjects: [Subject] = [.key(key), .address(address)]
    if !subjects.allSatisfy({ strangers[$0] != nil }), strangers.count + subjects.count > Self.subjectLimit {
      forgetRested(at: now)
      if strangers.count + subjects.count > Self.subjectLimit { subjects = [.others] }
    }
    subjects.append(.all)
    return subjects.map { subject in
      var allowance = strangers[subject] ?? self.allowance(of: subject, now)
      allowance.refill(at: now)
      strangers[subject] = allowance
      return (subject, allowance)
    }
  }

  private func allowance(of subject: Subject, _ now: ContinuousClock.Instant) -> NoticeAllowance {
    switch subject {
    case .key, .others: NoticeAllowance(keyBurst, then: Self.interval, now)
    case .address: NoticeAllowance(addressBurst, then: Self.interval, now)
    case .all:
      NoticeAllowance(addressBurst * Self.addressesOfAll, then: Self.interval / Self.addressesOfAll, now)
    }
  }

  /// Forgets those who have not come for so long that everything is as at the beginning.
  private mutating func forgetRested(at now: ContinuousClock.Instant) {
    for (subject, var allowance) in strangers where subject != .others && subject != .all {
      allowance.refill(at: now)
      strangers[subject] = allowance.isRested ? nil : allowance
    }
  }
}
