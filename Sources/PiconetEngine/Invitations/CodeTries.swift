import PiconetWire

/// Limits how often an unknown peer may ask, and have codes compared: there are pauses after refusals, and wrong codes
/// block it.
///
/// A value: facts and times go in. Each key and each address has an account of its own, so that neither new keys nor
/// new addresses alone give more tries. What all strangers do together is limited, too.
struct CodeTries: Sendable {
  struct Limits: Hashable, Sendable {
    /// After this many wrong codes within `blockTime` a key or an address is refused for `blockTime`.
    var wrongCodes = 3
    /// After this many wrong codes of all strangers together within `blockTime`, no code is compared with any unknown
    /// peer.
    var wrongCodesOfAll = 10
    var blockTime = Duration.seconds(3_600)
    /// The pause after the first refusal; it doubles with each further one.
    var firstPause = Duration.seconds(1)
    var longestPause = Duration.seconds(300)
    /// Refusals that cost an address no pause: several devices may be behind it.
    var freeOfAddress = 3
    /// How many keys and addresses are remembered; those beyond share one account.
    var subjects = 1_024
  }

  enum Subject: Hashable, Sendable {
    case key(PeerID)
    case address(String)
    /// All peers without an account of their own.
    case others
  }

  private struct Account {
    var refusals = 0
    /// Until when no person is asked about it.
    var pauseEnds: Instant?
    /// When its codes were wrong, oldest first; no more entries than the limit.
    var wrong: [Instant] = []
    /// When something last happened.
    var last: Instant
  }

  /// Why no person is asked about a peer.
  enum Refusal: Hashable, Sendable {
    case pause(Duration)
    case wrongCodes(Duration)
    case wrongCodesOfAll(Duration)
    /// If all the codes that are under way with it were wrong, it would be blocked.
    case underWay
    /// If all the codes that are under way with strangers were wrong, all of them would be blocked.
    case underWayOfAll

    var words: String {
      switch self {
      case .pause(let left): "asked again too soon: it is listened to in \(left.inSeconds) s"
      case .wrongCodes(let left):
        "too many codes were wrong or broke off: it is listened to again in \(left.inSeconds) s"
      case .wrongCodesOfAll(let left):
        "too many codes of strangers were wrong or broke off: they are listened to again in \(left.inSeconds) s"
      case .underWay: "as many codes are being compared with it as it may get wrong: it may ask again after one of them"
      case .underWayOfAll:
        "as many codes of strangers are being compared as may be wrong: they may ask again after one of them"
      }
    }
  }

  var limits = Limits()
  private var accounts: [Subject: Account] = [:]
  /// Exchanges that are not wrong codes yet, but will be if they break off.
  private var underWay: [CodeID: (key: PeerID, address: String)] = [:]
  private(set) var wrongOfAll: [Instant] = []

  var count: Int { accounts.count }

  /// Why no person is asked about this key at this address now; nil: a person may be asked.
  /// - Parameter comparesCodes: a person compares codes, here or there: the limits for codes apply as well.
  func refusal(_ key: PeerID, at address: String, comparesCodes: Bool = true, _ now: Instant) -> Refusal? {
    let refusal = comparesCodes ? refusalOfCode(key, at: address, now) : blocked(key, at: address, now)
    if let refusal { return refusal }
    let ends = subjects(key, address).compactMap { accounts[$0]?.pauseEnds }.max()
    if let ends, now < ends { return .pause(ends - now) }
    return nil
  }

  /// Why no exchange for a code begins with this key at this address now; nil: it may.
  func refusalOfCode(_ key: PeerID, at address: String, _ now: Instant) -> Refusal? {
    if let block = blocked(key, at: address, now) { return block }
    let wrong = wrongOfAll.filter { now < $0 + limits.blockTime }
    if wrong.count >= limits.wrongCodesOfAll, let first = wrong.first {
      return .wrongCodesOfAll(first + limits.blockTime - now)
    }
    if subjects(key, address).contains(where: { triesLeft($0, now) <= triesUnderWay($0) }) { return .underWay }
    return wrong.count + underWay.count >= limits.wrongCodesOfAll ? .underWayOfAll : nil
  }

  /// How many more codes may be wrong before the key or address is blocked.
  private func triesLeft(_ subject: Subject, _ now: Instant) -> Int {
    limits.wrongCodes - (accounts[subject]?.wrong.count { now < $0 + limits.blockTime } ?? 0)
  }

  private func triesUnderWay(_ subject: Subject) -> Int {
    underWay.values.count { subjects($0.key, $0.address).contains(subject) }
  }

  /// The part of `refusal` that also holds for our own invitations: we compare no more codes with a peer that has had
  /// wrong ones.
  func blocked(_ key: PeerID, at address: String, _ now: Instant) -> Refusal? {
    let ends = subjects(key, address).compactMap { subject -> Instant? in
      guard let wrong = accounts[subject]?.wrong, wrong.count >= limits.wrongCodes else { return nil }
      return wrong.last.map { $0 + limits.blockTime }
    }.max()
    guard let ends, now < ends else { return nil }
    return .wrongCodes(ends - now)
  }

  /// A question about the peer was answered with no, or not answered.
  mutating func refused(_ key: PeerID, at address: String, _ now: Instant) {
    for subject in open(key, address, now) { pause(subject, now) }
  }

  /// An exchange for a code begins, which is a wrong one if it breaks off.
  mutating func began(_ id: CodeID, _ key: PeerID, at address: String) { underWay[id] = (key, address) }

  /// The exchange is over, however it ended: whether it was wrong is told separately.
  mutating func ended(_ id: CodeID) { underWay[id] = nil }

  /// A code was wrong, or its attempt broke off after a nonce was given.
  /// - Returns: true if the key or the address is refused from now on because of it.
  mutating func wrongCode(_ key: PeerID, at address: String, _ now: Instant) -> Bool {
    var isBlocked = false
    for subject in open(key, address, now) {
      pause(subject, now)
      guard var account = accounts[subject] else { continue }
      account.wrong.removeAll { $0 + limits.blockTime <= now }
      account.wrong.append(now)
      let count = account.wrong.count
      if count >= limits.wrongCodes {
        isBlocked = isBlocked || count == limits.wrongCodes
        // No more are needed to tell whether the limit is reached.
        account.wrong.removeFirst(count - limits.wrongCodes)
      }
      accounts[subject] = account
    }
    wrongOfAll.removeAll { $0 + limits.blockTime <= now }
    wrongOfAll.append(now)
    if wrongOfAll.count > limits.wrongCodesOfAll { wrongOfAll.removeFirst() }
    return isBlocked
  }

  /// The same code was on both screens: the key's record is cleared. Its address keeps its record, to which others may
  /// have contributed.
  mutating func matched(_ key: PeerID) { accounts[.key(key)] = nil }

  private mutating func pause(_ subject: Subject, _ now: Instant) {
    guard var account = accounts[subject] else { return }
    account.refusals += 1
    account.last = now
    let free = if case .key = subject { 0 } else { limits.freeOfAddress }
    if account.refusals > free {
      let pause = limits.firstPause * (1 << min(account.refusals - free - 1, 20))
      account.pauseEnds = now + min(pause, limits.longestPause)
    }
    accounts[subject] = account
  }

  /// The accounts that apply to a key at an address.
  private func subjects(_ key: PeerID, _ address: String) -> [Subject] {
    [.key(key), .address(address)].map { accounts[$0] == nil && isFull ? .others : $0 }
  }

  private var isFull: Bool { accounts.count >= limits.subjects }

  private mutating func open(_ key: PeerID, _ address: String, _ now: Instant) -> [Subject] {
    if accounts.count + 2 > limits.subjects { forgetRested(now) }
    var opened: [Subject] = []
    for wanted in [Subject.key(key), .address(address)] {
      let subject = accounts[wanted] == nil && isFull ? .others : wanted
      if opened.contains(subject) { continue }
      // A peer that comes back after this long begins with a clean record.
      if let account = accounts[subject], account.last + limits.blockTime <= now { accounts[subject] = nil }
      accounts[subject, default: Account(last: now)].last = now
      opened.append(subject)
    }
    return opened
  }

  /// Forgets accounts that have been quiet for as long as a block lasts.
  private mutating func forgetRested(_ now: Instant) {
    accounts = accounts.filter { now < $0.value.last + limits.blockTime }
  }
}

extension Duration {
  /// Whole seconds, rounded up, so that a remaining time never shows as 0.
  fileprivate var inSeconds: Int64 { (wholeNanoseconds + 999_999_999) / 1_000_000_000 }
}
