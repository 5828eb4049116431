import PiconetWire

/// Reliable messages on their way in: fragments become messages, credit grows as the application takes them.
struct Inbox: Sendable {
  private var window: UInt64
  private var fragments: [UInt8] = []
  private var isFragmented = false
  /// Cost of all that came in since the association began.
  private var used: UInt64 = 0
  /// Cost of all that the application took.
  private var consumed: UInt64 = 0
  /// What the remote side may send in all; it knows unless `isCreditDue`.
  private var granted: UInt64
  /// The next flush tells the remote side its credit.
  private(set) var isCreditDue = false

  init(window: UInt64) {
    self.window = window
    granted = window
  }

  /// From now on so much may wait for the application, because the link is another one. Credit that was given stays
  /// given: a smaller window is reached when it is used up.
  mutating func resize(_ window: UInt64) {
    self.window = window
    granted = max(granted, consumed + window)
  }

  mutating func fragment(_ bytes: Bytes, messageLimit: Int) throws(InboxBreach) {
    try use(bytes.count)
    guard fragments.count + bytes.count <= messageLimit else { throw InboxBreach.messageLimit }
    fragments.append(contentsOf: bytes)
    isFragmented = true
  }

  mutating func message(_ bytes: Bytes, messageLimit: Int) throws(InboxBreach) -> Bytes {
    try use(bytes.count + WireLimits.messageCost)
    guard fragments.count + bytes.count <= messageLimit else { throw InboxBreach.messageLimit }
    guard isFragmented else { return bytes }
    fragments.append(contentsOf: bytes)
    defer {
      fragments = []
      isFragmented = false
    }
    return fragments[...]
  }

  private mutating func use(_ cost: Int) throws(InboxBreach) {
    used += UInt64(cost)
    guard used <= granted else { throw InboxBreach.credit }
  }

  /// The application took messages of this cost. Credit grows once that is worth a frame, or where what is left may not
  /// hold the next message: its fragments alone would give no credit back.
  /// - Returns: a new limit, which the remote side is to be told.
  mutating func consume(_ cost: Int, messageLimit: Int) -> UInt64? {
    consumed = min(consumed + UInt64(max(0, cost)), used)
    let limit = consumed + window
    let isShort = granted - min(used, granted) < UInt64(messageLimit + WireLimits.messageCost)
    guard limit > granted, isShort || limit - granted >= window / 4 else { return nil }
    granted = limit
    isCreditDue = true
    return limit
  }

  mutating func appendCredit(into bytes: inout [UInt8]) {
    isCreditDue = false
    FrameEncoder.append(.messageCredit(limit: granted), to: &bytes)
  }

  /// There is another link, on which credit is told anew; or none, and nothing is told.
  mutating func restateCredit(isLinked: Bool) { isCreditDue = isLinked }

  /// What the remote side may still send.
  var credit: UInt64 { granted - min(used, granted) }
  var bufferedCount: Int { fragments.count }
}

/// How a remote side broke its word about messages.
enum InboxBreach: Error, Equatable {
  /// More than the credit allows.
  case credit
  /// A message above the limit.
  case messageLimit
}
