import Piconet

/// Which declined invitations, failed offers, and comings and goings of strangers are told, so that nobody fills a log
/// by doing the same again and again. A value: whoever has it brings the time.
///
/// Of one key the first ones are told, then at most one in ten seconds; of one address, with however many keys, the
/// first ones, then at most one in ten seconds.
struct NoticeBudget: Sendable {
  static let interval = Duration.seconds(10)
  /// Of invitations.
  static let addressBurst = 8
  /// Of offers: somebody may send a folder of files that are not taken.
  static let offerBurst = 64
  /// Of offers for which nothing is stored, although nothing is wrong: somebody may send all photos of a year again.
  static let repeatBurst = 1_024
  /// Of strangers that become members, or can't be reached for a while.
  static let memberBurst = 64
  /// Keys and addresses that are remembered; those beyond share one allowance.
  static let subjectLimit = 512

  private enum Subject: Hashable {
    case key(PeerID)
    case address(String)
    case others
  }

  private struct Allowance {
    var left: Int
    /// When `left` was last made more, or was at its most.
    var refilled: ContinuousClock.Instant
    var suppressed = 0

    mutating func refill(to burst: Int, at now: ContinuousClock.Instant) {
      while left < burst, refilled + interval <= now {
        left += 1
        refilled += interval
      }
      if left == burst { refilled = now }
    }
  }

  /// Told of one key without a pause, and of one address.
  private let keyBurst: Int
  private let addressBurst: Int
  private var allowances: [Subject: Allowance] = [:]

  init(ofKey keyBurst: Int = 1, ofAddress addressBurst: Int = NoticeBudget.addressBurst) {
    self.keyBurst = keyBurst
    self.addressBurst = addressBurst
  }

  private func burst(_ subject: Subject) -> Int { if case .address = subject { addressBurst } else { keyBurst } }

  /// Whether the next one of this key and address would be told.
  mutating func tells(_ key: PeerID, at address: String, _ now: ContinuousClock.Instant) -> Bool {
    refilled(key, address, now).allSatisfy { allowances[$0]?.left != 0 }
  }

  /// Another one was declined.
  /// - Parameter address: without the port, which is another one each time.
  /// - Returns: how many of this key or address were not told since the last that was; nil: this one isn't, either.
  mutating func take(_ key: PeerID, at address: String, _ now: ContinuousClock.Instant) -> Int? {
    let subjects = refilled(key, address, now)
    if let spent = subjects.first(where: { allowances[$0]?.left == 0 }) {
      allowances[spent]?.suppressed += 1
      return nil
    }
    var suppressed = 0
    for subject in subjects {
      suppressed += allowances[subject]?.suppressed ?? 0
      allowances[subject]?.suppressed = 0
      allowances[subject]?.left -= 1
    }
    return suppressed
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

  /// Whose allowances count for this key and address, as they are now.
  private mutating func refilled(_ key: PeerID, _ address: String, _ now: ContinuousClock.Instant) -> [Subject] {
    var subjects: [Subject] = [.key(key), .address(address)]
    if !subjects.allSatisfy({ allowances[$0] != nil }), allowances.count + subjects.count > Self.subjectLimit {
      forgetRested(at: now)
      if allowances.count + subjects.count > Self.subjectLimit { subjects = [.others] }
    }
    for subject in subjects {
      let burst = burst(subject)
      allowances[subject, default: Allowance(left: burst, refilled: now)].refill(to: burst, at: now)
    }
    return subjects
  }

  /// Forgets who has not come for so long that all is as at the beginning.
  private mutating func forgetRested(at now: ContinuousClock.Instant) {
    for subject in Array(allowances.keys) where subject != .others {
      let burst = burst(subject)
      allowances[subject]?.refill(to: burst, at: now)
      if allowances[subject]?.left == burst { allowances[subject] = nil }
    }
  }
}
