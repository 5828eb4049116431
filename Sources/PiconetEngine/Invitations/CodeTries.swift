import PiconetWire

/// Limits how often an unknown peer may ask, and have codes compared: there are pauses after refusals, and codes that
/// differed or broke off block it.
///
/// A value: facts and times go in. Each key and each address has an account of its own. A key's limits are below those
/// of its address, so that one device of a household does not lock out the others. What all strangers do together is
/// limited, too, since keys and addresses cost nothing: that bounds the guesses.
struct CodeTries: Sendable {
  struct Limits: Hashable, Sendable {
    /// After this many codes that differed within `blockTime` a key is refused for `blockTime`.
    var wrongCodes = 3
    /// The same for attempts that differed or broke off: who breaks off has seen the code, and has had a try.
    var triesOfKey = 5
    /// The same for an address, over all keys there.
    var triesOfAddress = 7
    /// After this many such attempts of all strangers together within `blockTime`, no code is compared with any unknown
    /// peer.
    var triesOfAll = 10
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

  /// An attempt that ended without membership after a nonce was given, unless the person here said no to it.
  private struct Try {
    let key: PeerID
    let time: Instant
    /// Whether the codes differed; otherwise it broke off.
    let isWrong: Bool
  }

  private struct Account {
    var refusals = 0
    /// Until when no person is asked about it.
    var pauseEnds: Instant?
    /// Its attempts, oldest first; no more than the limit of an address.
    var tries: [Try] = []
    /// Until when it is refused.
    var blockEnds: Instant?
    /// When something last happened.
    var last: Instant
  }

  /// Why no person is asked about a peer.
  enum Refusal: Hashable, Sendable {
    case pause(Duration)
    case wrongCodes(Duration)
    case wrongCodesOfAddress(Duration)
    case wrongCodesOfAll(Duration)
    /// If all the codes that are under way with it were wrong, it would be blocked.
    case underWay
    /// If all the codes that are under way with strangers were wrong, all of them would be blocked.
    case underWayOfAll

    var words: String {
      switch self {
      case .pause(let left): "asked again too soon: it is listened to in \(left.spoken)"
      case .wrongCodes(let left): "too many codes were wrong or broke off: it is listened to again in \(left.spoken)"
      case .wrongCodesOfAddress(let left):
        "too many codes from its address were wrong or broke off: it is listened to again in \(left.spoken)"
      case .wrongCodesOfAll(let left):
        "too many codes of strangers were wrong or broke off: they are listened to again in \(left.spoken)"
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
  private var triesOfAll: [Try] = []

  var count: Int { accounts.count }

  /// Attempts of all strangers that count towards the limit of all, or did when the last one was added.
  var countOfAll: Int { triesOfAll.count }

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
    let tries = triesOfAll.filter { now < $0.time + limits.blockTime }
    if tries.count >= limits.triesOfAll, let first = tries.first {
      return .wrongCodesOfAll(first.time + limits.blockTime - now)
    }
    if subjects(key, address).contains(where: { triesLeft($0, now) <= triesUnderWay($0) }) { return .underWay }
    return tries.count + underWay.count >= limits.triesOfAll ? .underWayOfAll : nil
  }

  /// How many more codes may be wrong before the key or address is blocked.
  private func triesLeft(_ subject: Subject, _ now: Instant) -> Int {
    triesLeft(subject, accounts[subject]?.tries.filter { now < $0.time + limits.blockTime } ?? [])
  }

  /// - Parameter tries: those of the last hour.
  private func triesLeft(_ subject: Subject, _ tries: [Try]) -> Int {
    guard case .key = subject else { return limits.triesOfAddress - tries.count }
    return min(limits.wrongCodes - tries.count { $0.isWrong }, limits.triesOfKey - tries.count)
  }

  private func triesUnderWay(_ subject: Subject) -> Int {
    underWay.values.count { subjects($0.key, $0.address).contains(subject) }
  }

  /// The part of `refusal` that also holds for our own invitations: we compare no more codes with a peer that has had
  /// wrong ones.
  func blocked(_ key: PeerID, at address: String, _ now: Instant) -> Refusal? {
    for subject in subjects(key, address) {
      guard let ends = accounts[subject]?.blockEnds, now < ends else { continue }
      if case .key = subject { return .wrongCodes(ends - now) }
      return .wrongCodesOfAddress(ends - now)
    }
    return nil
  }

  /// A question about the peer was answered with no, or not answered.
  mutating func refused(_ key: PeerID, at address: String, _ now: Instant) {
    for subject in open(key, address, now) { pause(subject, now) }
  }

  /// An exchange for a code begins, which is a wrong one if it breaks off.
  mutating func began(_ id: CodeID, _ key: PeerID, at address: String) { underWay[id] = (key, address) }

  /// The exchange is over, however it ended: whether it was wrong is told separately.
  mutating func ended(_ id: CodeID) { underWay[id] = nil }

  /// What nobody is asked about any more, because of the last attempt.
  enum Block: Hashable, Sendable {
    /// A key, after this many attempts.
    case key(Int)
    /// All strangers of an address, after this many attempts.
    case address(Int)
    /// All strangers, after this many attempts, for the time that is left.
    case all(Int, Duration)
  }

  /// The attempt ended without membership after a nonce was given, and not because the person here said no.
  /// - Parameter isWrong: whether the codes differed; otherwise it broke off.
  /// - Returns: what is refused from now on because of it.
  mutating func failed(_ key: PeerID, at address: String, isWrong: Bool, _ now: Instant) -> Block? {
    let new = Try(key: key, time: now, isWrong: isWrong)
    var block: Block?
    for subject in open(key, address, now) {
      pause(subject, now)
      guard var account = accounts[subject] else { continue }
      account.tries.removeAll { $0.time + limits.blockTime <= now }
      account.tries.append(new)
      if account.tries.count > limits.triesOfAddress { account.tries.removeFirst() }
      if triesLeft(subject, account.tries) <= 0 {
        let isNew = account.blockEnds.map { $0 <= now } ?? true
        account.blockEnds = now + limits.blockTime
        if isNew, block == nil {
          block = if case .key = subject { .key(account.tries.count) } else { .address(account.tries.count) }
        }
      }
      accounts[subject] = account
    }
    triesOfAll.removeAll { $0.time + limits.blockTime <= now }
    triesOfAll.append(new)
    if triesOfAll.count > limits.triesOfAll { triesOfAll.removeFirst() }
    if block == nil, triesOfAll.count == limits.triesOfAll, let first = triesOfAll.first {
      block = .all(limits.triesOfAll, first.time + limits.blockTime - now)
    }
    return block
  }

  /// A person here wants these keys to be listened to again: what they did counts no longer, for them, for their
  /// addresses and for all strangers.
  mutating func forgive(_ isMeant: (PeerID) -> Bool) {
    triesOfAll.removeAll { isMeant($0.key) }
    for (subject, account) in accounts {
      if case .key(let key) = subject {
        if isMeant(key) { accounts[subject] = nil }
        continue
      }
      var left = account
      left.tries.removeAll { isMeant($0.key) }
      if left.tries.count == account.tries.count { continue }
      (left.refusals, left.pauseEnds) = (0, nil)
      if triesLeft(subject, left.tries) > 0 { left.blockEnds = nil }
      accounts[subject] = left
    }
  }

  /// As `forgive`, for all keys and addresses.
  mutating func forgiveAll() {
    accounts = [:]
    triesOfAll = []
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
