import PiconetWire

/// The number of a typed code, given by the engine's driver and never used again for another code. The engine never
/// sees the code's digits.
public struct TypedCodeID: RawRepresentable, Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static func < (left: TypedCodeID, right: TypedCodeID) -> Bool { left.rawValue < right.rawValue }
}

/// Limits how often others may try the code that this node has set, on the invited side.
///
/// A code has three tries over all peers together. A try counts from its beginning, before anything is sent from which
/// its outcome could be seen. So breaking off costs a try, and only a right code gives it back. There are pauses as
/// well, because new codes must not mean unlimited new tries. One pause applies to the key and the address that were
/// wrong, and a shorter one to all peers, since keys cost nothing.
struct TypedCodeTries: Sendable {
  /// Tries of one code over all peers.
  static let perCode = 3

  /// One try, from its beginning to its outcome.
  struct Try: Hashable, Sendable {
    let code: TypedCodeID
    let peer: PeerID
    /// The peer's host or device, without a port.
    let place: String
    /// Tries that the code has left if this one is wrong and no other is under way.
    let left: Int
    fileprivate let number: UInt64
  }

  enum Refusal: Error, Hashable, Sendable {
    /// No code is set.
    case noCode
    /// The code has used up its wrong tries.
    case over
    /// This key is trying the code right now, or as many peers as the code has tries left are.
    case busy
    /// After wrong tries, another try by this key, from this place, or on this device is accepted only after this time.
    case wait(Duration)
  }

  /// The code that is set; nil also once it is spent.
  private(set) var code: TypedCodeID?
  private var isOver = false
  private var wrong = 0
  private var underWay: [Try] = []
  private var keys = BackOffTable<PeerID>(first: .seconds(2), most: .seconds(3600), forgets: .seconds(3600))
  /// This pause is no longer than that of the whole device: others may be behind the same address.
  private var places = BackOffTable<String>(first: .seconds(2), most: .seconds(300), forgets: .seconds(3600))
  private var device = BackOff(first: .seconds(1), most: .seconds(300), forgets: .seconds(600))
  private var nextNumber: UInt64 = 0

  /// Whether a code was set, even if it is spent. No stranger gets in without a code.
  var isSet: Bool { code != nil || isOver }

  /// Tries that the code has left, not counting those under way.
  var left: Int { code.map { code in Self.perCode - wrong - underWay.count { $0.code == code } } ?? 0 }

  /// Sets another code, or none. Tries under way continue with the previous code, and count for keys, places and the
  /// device.
  mutating func set(_ code: TypedCodeID?) {
    guard code != self.code || isOver else { return }
    self.code = code
    isOver = false
    wrong = 0
  }

  /// Counts a try, before anything is sent that shows whether it is right.
  mutating func begin(_ peer: PeerID, at place: String, _ now: Instant) -> Result<Try, Refusal> {
    guard let code else { return .failure(isOver ? .over : .noCode) }
    let ofThisCode = underWay.count { $0.code == code }
    guard wrong + ofThisCode < Self.perCode, !underWay.contains(where: { $0.peer == peer }) else {
      return .failure(.busy)
    }
    let ends = [keys[peer]?.ends, places[place]?.ends, device.ends].compactMap { $0 }.max()
    if let ends, ends > now { return .failure(.wait(ends - now)) }
    nextNumber += 1
    let begun = Try(
      code: code, peer: peer, place: place, left: Self.perCode - wrong - ofThisCode - 1, number: nextNumber)
    underWay.append(begun)
    return .success(begun)
  }

  /// Notes that the peer has proven that it knows the code.
  mutating func wasRight(_ done: Try) {
    guard let index = underWay.firstIndex(of: done) else { return }
    underWay.remove(at: index)
    keys.forget(done.peer)
  }

  /// Forgives these keys at the wish of a person here: no pause stands in their way. The tries of the code stay spent.
  mutating func forgive(_ isMeant: (PeerID) -> Bool) {
    keys.forget(where: isMeant)
    places.forget { _ in true }
    device.forget()
  }

  /// Notes that the peer was wrong, broke off, or has answered too late.
  /// - Returns: true if this was the code's last try.
  mutating func wasWrong(_ done: Try, _ now: Instant) -> Bool {
    guard let index = underWay.firstIndex(of: done) else { return false }
    underWay.remove(at: index)
    keys.add(done.peer, now)
    places.add(done.place, now)
    device.add(now)
    guard done.code == code else { return false }
    wrong += 1
    guard wrong >= Self.perCode else { return false }
    code = nil
    isOver = true
    return true
  }
}

/// Counts how often others were wrong about codes that were typed here, on the inviting side. A device that pretends to
/// be the one that shows the code has one guess for each invitation. So a code is given to no other device after three
/// wrong guesses.
struct GivenCodeTries: Sendable {
  private var wrong: [TypedCodeID: Int] = [:]
  private var order = FirstInFirstOut<TypedCodeID>()
  /// The number of remembered codes; a person won't type more.
  static let limit = 256

  /// Returns whether the code may be given to another peer.
  func allows(_ code: TypedCodeID) -> Bool { (wrong[code] ?? 0) < TypedCodeTries.perCode }

  mutating func wasWrong(_ code: TypedCodeID) {
    if wrong[code] == nil {
      order.append(code)
      if order.count > Self.limit, let oldest = order.popFirst() { wrong[oldest] = nil }
    }
    wrong[code, default: 0] += 1
  }
}

/// A pause after each wrong try, twice as long as the one before, up to a limit.
struct BackOff: Sendable {
  let first: Duration
  let most: Duration
  /// The time without a wrong try after which one wrong try is forgotten.
  let forgets: Duration
  private var count = 0
  private var last: Instant?

  init(first: Duration, most: Duration, forgets: Duration) {
    self.first = first
    self.most = most
    self.forgets = forgets
  }

  /// When the pause is over; nil if there was no wrong try.
  var ends: Instant? {
    guard let last, count > 0 else { return nil }
    // 2^30 is beyond any limit, and multiplies without an overflow.
    return last + min(most, first * (1 << min(count - 1, 30)))
  }

  mutating func forget() { (count, last) = (0, nil) }

  mutating func add(_ now: Instant) {
    if let last {
      let quiet = (now - last).wholeNanoseconds / max(1, forgets.wholeNanoseconds)
      count = max(0, count - Int(clamping: quiet))
    }
    count += 1
    last = now
  }
}

/// Pauses by key or place. In a full table the pause that ends first makes room. Pushing a pause out costs a wrong try.
struct BackOffTable<Name: Hashable & Comparable & Sendable>: Sendable {
  private let first: Duration
  private let most: Duration
  private let forgets: Duration
  private var entries: [Name: BackOff] = [:]
  static var limit: Int { 256 }

  init(first: Duration, most: Duration, forgets: Duration) {
    self.first = first
    self.most = most
    self.forgets = forgets
  }

  var count: Int { entries.count }

  subscript(name: Name) -> BackOff? { entries[name] }

  mutating func add(_ name: Name, _ now: Instant) {
    var entry = entries[name] ?? BackOff(first: first, most: most, forgets: forgets)
    entry.add(now)
    entries[name] = entry
    guard entries.count > Self.limit else { return }
    let others = entries.filter { $0.key != name }
    let soonest = others.min { left, right in
      (left.value.ends ?? now, left.key) < (right.value.ends ?? now, right.key)
    }
    if let soonest { entries[soonest.key] = nil }
  }

  mutating func forget(_ name: Name) { entries[name] = nil }

  mutating func forget(where isMeant: (Name) -> Bool) { entries = entries.filter { !isMeant($0.key) } }
}
