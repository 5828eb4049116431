import PiconetWire

/// Incoming messages in the channels other than 0. Each channel has an inbox once something has come.
struct IncomingChannels: Sendable {
  /// The number of channels that our hello states.
  private let limit: Int
  private var window: UInt64
  private var inboxes = ChannelTable<Inbox>()
  /// Limits to tell the remote side. The last one of a channel replaces earlier ones.
  private var creditsDue: [MessageChannel: UInt64] = [:]

  init(limit: Int, window: UInt64) {
    self.limit = limit
    self.window = window
  }

  /// Whether the next flush tells the remote side some credit.
  var hasCredits: Bool { !creditsDue.isEmpty }

  /// Bytes of incomplete messages.
  var bufferedCount: Int { inboxes.values.reduce(0) { $0 + $1.bufferedCount } }

  /// Accepts whatever either of two hellos may have stated: the larger window.
  mutating func agree(window: UInt64) { self.window = max(self.window, window) }

  mutating func fragment(_ bytes: Bytes, in channel: MessageChannel, messageLimit: Int) throws(InboxBreach) {
    try check(channel)
    let index = inboxes.index(of: channel, default: Inbox(window: window, countsParts: true))
    if let credit = try inboxes.values[index].fragment(bytes, messageLimit: messageLimit) {
      creditsDue[channel] = credit
    }
  }

  mutating func message(_ bytes: Bytes, in channel: MessageChannel, messageLimit: Int) throws(InboxBreach) -> Bytes {
    try check(channel)
    let index = inboxes.index(of: channel, default: Inbox(window: window, countsParts: true))
    return try inboxes.values[index].message(bytes, messageLimit: messageLimit)
  }

  private func check(_ channel: MessageChannel) throws(InboxBreach) {
    guard channel.number < limit else { throw InboxBreach.channel(channel) }
  }

  /// Notes that the application has taken messages of this cost.
  /// - Returns: whether the remote side must be told of it.
  mutating func consume(_ cost: Int, in channel: MessageChannel, messageLimit: Int) -> Bool {
    guard let index = inboxes.index(of: channel),
      let credit = inboxes.values[index].consume(cost, messageLimit: messageLimit)
    else { return false }
    creditsDue[channel] = credit
    return true
  }

  mutating func appendCredits(into bytes: inout [UInt8]) {
    for channel in creditsDue.keys.sorted() {
      if let limit = creditsDue[channel] { FrameEncoder.append(.channelCredit(channel, limit: limit), to: &bytes) }
    }
    creditsDue = [:]
  }

  /// Marks the credit of each channel to be told again on a new link, or not to be told while there is no link.
  mutating func restateCredits(isLinked: Bool) {
    creditsDue = [:]
    guard isLinked else { return }
    for (channel, inbox) in inboxes.entries { creditsDue[channel] = inbox.granted }
  }
}
