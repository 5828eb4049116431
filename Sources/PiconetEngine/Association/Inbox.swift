import PiconetWire

/// Incoming reliable messages of one channel. Fragments become messages, and credit grows as the application takes
/// them.
struct Inbox: Sendable {
  private var window: UInt64
  /// Whether the parts of an incomplete message count as taken, so that the window may be smaller than a message.
  private let countsParts: Bool
  private var fragments: [UInt8] = []
  private var isFragmented = false
  /// Cost of all messages received since the association began.
  private var used: UInt64 = 0
  /// Cost of all messages that the application has taken.
  private var consumed: UInt64 = 0
  /// How much the remote side may send in all since the association began. The remote side knows it unless
  /// `isCreditDue`.
  private(set) var granted: UInt64
  /// Whether the next flush tells the remote side its credit. Used only for channel 0: `IncomingChannels` notes for
  /// itself what is due.
  private(set) var isCreditDue = false

  init(window: UInt64, countsParts: Bool = false) {
    self.window = window
    self.countsParts = countsParts
    granted = window
  }

  /// Changes how much may wait for the application, because the link has changed. Credit once given stays valid: a
  /// smaller window takes effect when that credit is used up.
  mutating func resize(_ window: UInt64) {
    self.window = window
    granted = max(granted, consumed + window)
  }

  /// - Returns: a new limit to tell the remote side.
  @discardableResult
  mutating func fragment(_ bytes: Bytes, messageLimit: Int) throws(InboxBreach) -> UInt64? {
    try use(bytes.count)
    guard fragments.count + bytes.count <= messageLimit else { throw InboxBreach.messageLimit }
    fragments.append(contentsOf: bytes)
    isFragmented = true
    return countsParts ? grant(isShort: false) : nil
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

  /// Notes that the application has taken messages of this cost. Credit grows in two cases: once the growth is worth a
  /// frame, and if the remaining credit may not hold the next message, whose fragments alone would return no credit.
  /// - Returns: a new limit to tell the remote side.
  mutating func consume(_ cost: Int, messageLimit: Int) -> UInt64? {
    consumed = min(consumed + UInt64(max(0, cost)), used)
    let isShort = !countsParts && credit < UInt64(messageLimit + WireLimits.messageCost)
    return grant(isShort: isShort)
  }

  private mutating func grant(isShort: Bool) -> UInt64? {
    let limit = consumed + window + (countsParts ? UInt64(fragments.count) : 0)
    guard limit > granted, isShort || limit - granted >= window / 4 else { return nil }
    granted = limit
    isCreditDue = true
    return limit
  }

  mutating func appendCredit(into bytes: inout [UInt8]) {
    isCreditDue = false
    FrameEncoder.append(.messageCredit(limit: granted), to: &bytes)
  }

  /// Marks the credit to be told again on a new link, or not to be told while there is no link.
  mutating func restateCredit(isLinked: Bool) { isCreditDue = isLinked }

  /// How much the remote side may still send.
  var credit: UInt64 { granted - min(used, granted) }
  var bufferedCount: Int { fragments.count }
}

/// How a remote side broke the rules for messages.
enum InboxBreach: Error, Equatable {
  /// More data than the credit allows.
  case credit
  /// A message above the limit.
  case messageLimit
  /// A message in a channel that our hello does not state.
  case channel(MessageChannel)
}
