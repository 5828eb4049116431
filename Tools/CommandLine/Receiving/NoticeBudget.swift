import Piconet

/// Which of the things that peers do are told, so that nobody fills a log by doing the same again and again. A value:
/// whoever has it brings the time.
///
/// Of one stranger's key the first ones are told, then at most one in ten seconds; of one address, with however many
/// keys, the first ones, then at most one in ten seconds; of all strangers together as much as of four addresses, since
/// addresses cost nothing either. A known key has an allowance of its own, which no stranger can use up.
struct NoticeBudget: Sendable {
  static let interval = Duration.seconds(10)
  /// All strangers together have as much as so many addresses.
  static let addressesOfAll = 4
  /// Of invitations.
  static let addressBurst = 8
  /// Of offers: somebody may send a folder of files that are not taken.
  static let offerBurst = 64
  /// Of offers for which nothing is stored, although nothing is wrong: somebody may send all photos of a year again.
  static let repeatBurst = 1_024
  /// Of files that may have replaced others.
  static let overwriteBurst = 16_384
  /// Of peers that become members, compare codes, leave, or can't be reached for a while.
  static let memberBurst = 64
  /// Keys and addresses of strangers that are remembered; those beyond share one allowance.
  static let subjectLimit = 512

  private enum Subject: Hashable {
    case key(PeerID)
    case address(String)
    case others
    case all
  }

  /// Told of one key without a pause, of one address, and of a known key.
  private let keyBurst: Int
  private let addressBurst: Int
  private let knownBurst: Int
  /// Whether all is told of those whom a person lets push.
  private let tellsAllOfTrusted: Bool
  private var strangers: [Subject: NoticeAllowance] = [:]
  /// As many as a person has made known.
  private var known: [PeerID: NoticeAllowance] = [:]

  init(
    ofKey keyBurst: Int = 1, ofAddress addressBurst: Int = NoticeBudget.addressBurst,
    ofKnown knownBurst: Int = NoticeBudget.addressBurst, tellsAllOfTrusted: Bool = false
  ) {
    (self.keyBurst, self.addressBurst, self.knownBurst) = (keyBurst, addressBurst, knownBurst)
    self.tellsAllOfTrusted = tellsAllOfTrusted
  }

  /// The same number of a key, an address and a known key; all of those whom a person lets push.
  init(of burst: Int) { self.init(ofKey: burst, ofAddress: burst, ofKnown: burst, tellsAllOfTrusted: true) }

  /// Whether the next one of this peer would be told.
  mutating func tells(_ peer: ProvenMember, _ now: ContinuousClock.Instant = .now) -> Bool {
    isTrusted(peer) || tells(peer.fingerprint, at: peer.remoteHost, isKnown: peer.known != nil, now)
  }

  /// This peer has done it again.
  /// - Returns: how many were not told since the last that was; nil: this one isn't, either.
  mutating func take(_ peer: ProvenMember, _ now: ContinuousClock.Instant = .now) -> Int? {
    isTrusted(peer) ? 0 : take(peer.fingerprint, at: peer.remoteHost, isKnown: peer.known != nil, now)
  }

  private func isTrusted(_ peer: ProvenMember) -> Bool { tellsAllOfTrusted && peer.rights.contains(.push) }

  /// As of a peer.
  /// - Parameter address: without the port, which is another one each time.
  mutating func tells(
    _ key: PeerID, at address: String, isKnown: Bool = false, _ now: ContinuousClock.Instant
  ) -> Bool {
    if isKnown { return knownAllowance(key, now).left > 0 }
    return refilled(key, address, now).allSatisfy { strangers[$0]?.left != 0 }
  }

  /// As of a peer.
  mutating func take(
    _ key: PeerID, at address: String, isKnown: Bool = false, _ now: ContinuousClock.Instant
  ) -> Int? {
    if isKnown { return takeKnown(key, now) }
    let subjects = refilled(key, address, now)
    if let spent = subjects.first(where: { strangers[$0]?.left == 0 }) {
      strangers[spent]?.suppressed += 1
      return nil
    }
    var suppressed = 0
    for subject in subjects {
      suppressed += strangers[subject]?.suppressed ?? 0
      strangers[subject]?.suppressed = 0
      _ = strangers[subject]?.take(at: now)
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

  /// What stands in the event about one, for those before it that were not told.
  static func figure(_ suppressed: Int?) -> Int64? { suppressed.flatMap { $0 > 0 ? Int64($0) : nil } }

  /// What stands behind the line about one, for those before it that were not told.
  static func words(_ suppressed: Int) -> String {
    switch suppressed {
    case 0: ""
    case 1: "; so was one before"
    default: "; so were \(suppressed) before"
    }
  }

  /// The same where another verb stands in the line.
  static func othersNotTold(_ suppressed: Int) -> String {
    switch suppressed {
    case 0: ""
    case 1: "; one other was not told"
    default: "; \(suppressed) others were not told"
    }
  }

  /// Whose allowances count for this key and address, as they are now.
  private mutating func refilled(_ key: PeerID, _ address: String, _ now: ContinuousClock.Instant) -> [Subject] {
    var subjects: [Subject] = [.key(key), .address(address)]
    if !subjects.allSatisfy({ strangers[$0] != nil }), strangers.count + subjects.count > Self.subjectLimit {
      forgetRested(at: now)
      if strangers.count + subjects.count > Self.subjectLimit { subjects = [.others] }
    }
    subjects.append(.all)
    for subject in subjects {
      let new = allowance(of: subject, now)
      strangers[subject, default: new].refill(at: now)
    }
    return subjects
  }

  private func allowance(of subject: Subject, _ now: ContinuousClock.Instant) -> NoticeAllowance {
    switch subject {
    case .key, .others: NoticeAllowance(keyBurst, then: Self.interval, now)
    case .address: NoticeAllowance(addressBurst, then: Self.interval, now)
    case .all:
      NoticeAllowance(addressBurst * Self.addressesOfAll, then: Self.interval / Self.addressesOfAll, now)
    }
  }

  /// Forgets who has not come for so long that all is as at the beginning.
  private mutating func forgetRested(at now: ContinuousClock.Instant) {
    for subject in Array(strangers.keys) where subject != .others && subject != .all {
      strangers[subject]?.refill(at: now)
      if strangers[subject]?.isRested == true { strangers[subject] = nil }
    }
  }
}
