import PiconetWire

/// Limits how often an unknown peer may ask and have codes compared. There are pauses after refusals. Codes that
/// differed or exchanges that broke off block the peer.
///
/// A value: facts and times go in. Each key and each address has an account of its own. A key's limits are below those
/// of its address, so that one device of a household does not lock out the others. All strangers together are limited
/// too, since keys and addresses cost nothing. That bounds the number of guesses.
struct CodeTries: Sendable {
  struct Limits: Hashable, Sendable {
    /// The number of codes that differed within `blockTime` after which a key is refused for `blockTime`.
    var wrongCodes = 3
    /// The same for attempts that differed or broke off: a peer that breaks off has seen the code, and has had a try.
    var triesOfKey = 5
    /// The same for an address, over all keys there.
    var triesOfAddress = 7
    /// The number of such attempts of all strangers together within `blockTime` after which no code is compared with
    /// any unknown peer.
    var triesOfAll = 10
    var blockTime = Duration.seconds(3_600)
    /// The pause after the first refusal. It doubles with each further one.
    var firstPause = Duration.seconds(1)
    var longestPause = Duration.seconds(300)
    /// The number of refusals that cost an address no pause: several devices may be behind it.
    var freeOfAddress = 3
    /// The number of remembered keys and addresses. All others share one account.
    var subjects = 1_024
  }

  enum Subject: Hashable, Sendable {
    case key(PeerID)
    case address(String)
    /// All peers without an account of their own.
    case others
  }

  /// An attempt that ended without membership after a nonce was given, unless the person here rejected it.
  private struct Try {
    let key: PeerID
    let time: Instant
    /// Whether the codes differed; if not, the attempt broke off.
    let isWrong: Bool
  }

  private struct Account {
    var refusals = 0
    /// When the pause ends in which no person is asked about it.
    var pauseEnds: Instant?
    /// Its attempts, oldest first. There are no more than the limit of an address.
    var tries: [Try] = []
    /// When the block ends.
    var blockEnds: Instant?
    /// When something last happened.
    var last: Instant
  }

  /// The reason why no person is asked about a peer.
  enum Refusal: Hashable, Sendable {
    case pause(Duration)
    case wrongCodes(Duration)
    case wrongCodesOfAddress(Duration)
    case wrongCodesOfAll(Duration)
    /// If all codes under way with it were wrong, it would be blocked.
    case underWay
    /// If all codes under way with strangers were wrong, all strangers would be blocked.
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
  /// Exchanges that are not wrong codes yet, but become wrong if they break off.
  private var underWay: [CodeID: (key: PeerID, address: String)] = [:]
  private var triesOfAll: [Try] = []

  var count: Int { accounts.count }

  /// The number of attempts of all strangers that count towards their common limit, or did when the last one was added.
  var countOfAll: Int { triesOfAll.count }

  /// Returns why no person is asked about this key at this address now; nil if a person may be asked.
  /// - Parameter comparesCodes: whether a person compares codes, here or there. In that case the limits for codes apply
  ///   as well.
  func refusal(_ key: PeerID, at address: String, comparesCodes: Bool = true, _ now: Instant) -> Refusal? {
    let refusal = comparesCodes ? refusalOfCode(key, at: address, now) : blocked(key, at: address, now)
    if let refusal { return refusal }
    let ends = subjects(key, address).compactMap { accounts[$0]?.pauseEnds }.max()
    if let ends, now < ends { return .pause(ends - now) }
    return nil
  }

  /// Returns why no exchange for a code begins with this key at this address now; nil if it may begin.
  func refusalOfCode(_ key: PeerID, at address: String, _ now: Instant) -> Refusal? {
    if let block = blocked(key, at: address, now) { return block }
    let tries = triesOfAll.filter { now < $0.time + limits.blockTime }
    if tries.count >= limits.triesOfAll, let first = tries.first {
      return .wrongCodesOfAll(first.time + limits.blockTime - now)
    }
    if subjects(key, address).contains(where: { triesLeft($0, now) <= triesUnderWay($0) }) { return .underWay }
    return tries.count + underWay.count >= limits.triesOfAll ? .underWayOfAll : nil
  }

  /// Returns how many more codes may be wrong before the key or address is blocked.
  private func triesLeft(_ subject: Subject, _ now: Instant) -> Int {
    triesLeft(subject, accounts[subject]?.tries.filter { now < $0.time + limits.blockTime } ?? [])
  }

  /// - Parameter tries: the tries within `blockTime`.
  private func triesLeft(_ subject: Subject, _ tries: [Try]) -> Int {
    guard case .key = subject else { return limits.triesOfAddress - tries.count }
    return min(limits.wrongCodes - tries.count { $0.isWrong }, limits.triesOfKey - tries.count)
  }

  private func triesUnderWay(_ subject: Subject) -> Int {
    underWay.values.count { subjects($0.key, $0.address).contains(subject) }
  }

  /// Returns the part of `refusal` that also applies to our own invitations. We compare no more codes with a peer that
  /// has had wrong ones.
  func blocked(_ key: PeerID, at address: String, _ now: Instant) -> Refusal? {
    for subject in subjects(key, address) {
      guard let ends = accounts[subject]?.blockEnds, now < ends else { continue }
      if case .key = subject { return .wrongCodes(ends - now) }
      return .wrongCodesOfAddress(ends - now)
    }
    return nil
  }

  /// Counts a question about the peer that was answered with no, or not answered.
  mutating func refused(_ key: PeerID, at address: String, _ now: Instant) {
    for subject in open(key, address, now) { pause(subject, now) }
  }

  /// Notes that an exchange for a code begins. It counts as wrong if it breaks off.
  mutating func began(_ id: CodeID, _ key: PeerID, at address: String) { underWay[id] = (key, address) }

  /// Notes that the exchange is over, however it ended. Whether it was wrong is reported separately.
  mutating func ended(_ id: CodeID) { underWay[id] = nil }

  /// The peers that are blocked because of the last attempt.
  enum Block: Hashable, Sendable {
    /// A key, after this many attempts.
    case key(Int)
    /// All strangers of an address, after this many attempts.
    case address(Int)
    /// All strangers, after this many attempts, for the remaining time.
    case all(Int, Duration)
  }

  /// Counts an attempt that ended without membership after a nonce was given, and not because the person here rejected
  /// it.
  /// - Parameter isWrong: whether the codes differed; if not, the attempt broke off.
  /// - Returns: the block that this causes; nil if it causes none.
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

  /// Forgives these keys at the wish of a person here. Their attempts no longer count, for them, for their addresses
  /// and for all strangers.
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

  /// Forgives all keys and addresses, like `forgive`.
  mutating func forgiveAll() {
    accounts = [:]
    triesOfAll = []
  }

  /// Clears the key's record after the same code was on both screens. The record of its address stays, since others may
  /// have contributed to it.
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

  /// Returns the accounts that apply to a key at an address.
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
      // A peer that comes back after this long starts with a clean record.
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
