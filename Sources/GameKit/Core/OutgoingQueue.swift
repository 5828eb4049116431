/// Messages that wait because their peer does not take more now.
struct OutgoingQueue: Sendable {
  /// The limit for one peer, above which `send` throws. A picture that is sent in slices, in a loop, waits here as a
  /// whole.
  static let byteLimit = 64 << 20
  /// The cost of each message in addition to its bytes.
  static let messageCost = 64

  private var messages: [ArraySlice<UInt8>] = []
  private var start = 0
  private(set) var cost = 0
  /// The task that hands them on; nil: no message waits, and messages go directly.
  var task: Task<Void, Never>?

  func hasRoom(for count: Int) -> Bool { cost + count + Self.messageCost <= Self.byteLimit }

  mutating func append(_ bytes: ArraySlice<UInt8>) {
    messages.append(bytes)
    cost += bytes.count + Self.messageCost
  }

  /// The next message to go; it counts until `removeFirst`.
  var first: ArraySlice<UInt8>? { start < messages.count ? messages[start] : nil }

  mutating func removeFirst() {
    cost -= messages[start].count + Self.messageCost
    messages[start] = []
    start += 1
    if start == messages.count {
      messages = []
      start = 0
    } else if start >= 1_024, start * 2 >= messages.count {
      messages.removeFirst(start)
      start = 0
    }
  }
}
