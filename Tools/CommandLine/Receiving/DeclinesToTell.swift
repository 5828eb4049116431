import Piconet

/// Which declined invitations are told, so that nobody fills a log by asking again and again. A value: whoever has it brings the time.
///
/// Of one key the first is told, then at most one in ten seconds; of one address, with however many keys, the first eight, then at most one
/// in ten seconds.
struct DeclinesToTell: Sendable {
  static let interval = Duration.seconds(10)
  /// Told of one address without a pause.
  static let addressBurst = 8
  /// Keys and addresses that are remembered; those beyond share one allowance.
  static let subjectLimit = 512

  private enum Subject: Hashable {
    case key(PeerID)
    case address(String)
    case others

    var burst: Int { if case .address = self { addressBurst } else { 1 } }
  }

  private struct Allowance {
    var left: Int
    /// When `left` was last made more, or was at its most.
    var refilled: ContinuousClock.Instant
    var untold = 0

    mutating func refill(to burst: Int, at now: ContinuousClock.Instant) {
      while left < burst, refilled + interval <= now {
        left += 1
        refilled += interval
      }
      if left == burst { refilled = now }
    }
  }

  private var allowances: [Subject: Allowance] = [:]

  /// Another one was declined.
  /// - Parameter address: without the port, which is another one each time.
  /// - Returns: how many of this key or address were not told since the last that was; nil: this one isn't, either.
  mutating func take(_ key: PeerID, at address: String, _ now: ContinuousClock.Instant) -> Int? {
    var subjects: [Subject] = [.key(key), .address(address)]
    if !subjects.allSatisfy({ allowances[$0] != nil }), allowances.count + subjects.count > Self.subjectLimit {
      forgetRested(at: now)
      if allowances.count + subjects.count > Self.subjectLimit { subjects = [.others] }
    }
    for subject in subjects {
      allowances[subject, default: Allowance(left: subject.burst, refilled: now)].refill(to: subject.burst, at: now)
    }
    if let spent = subjects.first(where: { allowances[$0]?.left == 0 }) {
      allowances[spent]?.untold += 1
      return nil
    }
    var untold = 0
    for subject in subjects {
      untold += allowances[subject]?.untold ?? 0
      allowances[subject]?.untold = 0
      allowances[subject]?.left -= 1
    }
    return untold
  }

  /// What stands behind the line about one, for those before it that were not told.
  static func words(_ untold: Int) -> String {
    switch untold {
    case 0: ""
    case 1: "; so was one before"
    default: "; so were \(untold) before"
    }
  }

  /// Forgets who has not come for so long that all is as at the beginning.
  private mutating func forgetRested(at now: ContinuousClock.Instant) {
    for subject in Array(allowances.keys) where subject != .others {
      allowances[subject]?.refill(to: subject.burst, at: now)
      if allowances[subject]?.left == subject.burst { allowances[subject] = nil }
    }
  }
}
